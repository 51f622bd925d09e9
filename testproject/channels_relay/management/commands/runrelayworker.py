import asyncio
import signal
from typing import Any

from channels.layers import get_channel_layer
from django.core.management.base import BaseCommand, CommandError

from channels_relay.options import options
from channels_relay.worker import RelayHandler, RelayWorker


class Command(BaseCommand):
    help = (
        "Answers the HTTP requests that fronts (channels_relay.front.RelayFront) put on the channel layer, one "
        "at a time. You can start any number of workers. On SIGTERM, a worker finishes its current request and exits."
    )

    def handle(self, *args: Any, **kwargs: Any) -> None:
        relay_options = options()
        layer = get_channel_layer(relay_options.layer)
        if layer is None:
            raise CommandError(f"CHANNEL_LAYERS has no layer {relay_options.layer!r}.")
        asyncio.run(work(RelayWorker(RelayHandler(), layer, relay_options)))


async def work(worker: RelayWorker) -> None:
    """Run the worker until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, worker.stop)
    await worker.run()
