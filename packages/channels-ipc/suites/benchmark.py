"""Compare round trips between two processes over channel layers.

``python packages/channels-ipc/suites/benchmark.py`` measures channels_ipc, channels_redis and Channels' layer in memory
in turn, in several rounds. In each round, a new process answers each message on its reply channel, and this process
sends one message at a time and then 64 at once. The layer in memory stays within this process.

channels_redis uses the Redis at REDIS_URL, or starts ``redis-server`` on a Unix socket. Prints a table of medians.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

IPC, REDIS, MEMORY = "channels_ipc", "channels_redis", "memory"
LAYERS = (IPC, REDIS, MEMORY)
CHANNEL = "benchmark.echo"
IN_FLIGHT = 64
BODY = bytes(1000)
START_TIMEOUT_S = 30


class Round(NamedTuple):
    """The median round trip, one at a time, and the rate of round trips with 64 at once."""

    median_us: float
    per_second: float


def channel_layer(name: str, address: str) -> Any:
    """Return the layer. ``address`` is a folder for channels_ipc and a URL for channels_redis."""
    if name == IPC:
        from channels_ipc.core import IPCChannelLayer

        return IPCChannelLayer(path=address)
    if name == REDIS:
        from channels_redis.core import RedisChannelLayer

        # With redis-py 8, an idle reader fails after five seconds unless socket_timeout is None.
        return RedisChannelLayer(hosts=[{"address": address, "socket_timeout": None, "max_connections": 1000}])
    from channels.layers import InMemoryChannelLayer

    return InMemoryChannelLayer()


async def answer(layer: Any) -> None:
    """Answer each message on its reply channel."""
    while True:
        message = await layer.receive(CHANNEL)
        await layer.send(message["reply_channel"], {"type": "echo", "body": message["body"]})


def answer_in_process(name: str, address: str) -> None:
    """Answer messages until the process is terminated."""
    asyncio.run(answer(channel_layer(name, address)))


async def round_trips(layer: Any, seconds: float, in_flight: int) -> list[float]:
    """Return the duration of each round trip in seconds."""
    durations: list[float] = []
    end = time.perf_counter() + seconds

    async def one_after_another() -> None:
        now = time.perf_counter()
        while now < end:
            begin = now
            reply_channel = await layer.new_channel()
            await layer.send(CHANNEL, {"type": "echo", "body": BODY, "reply_channel": reply_channel})
            await layer.receive(reply_channel)
            now = time.perf_counter()
            durations.append(now - begin)

    await asyncio.gather(*(one_after_another() for _ in range(in_flight)))
    return durations


async def measure(name: str, address: str, seconds: float) -> Round:
    """Measure one round, after a warm-up that also waits for the other process."""
    layer = channel_layer(name, address)
    answering = asyncio.create_task(answer(layer)) if name == MEMORY else None
    await asyncio.wait_for(round_trips(layer, seconds / 4, 1), START_TIMEOUT_S)
    alone = await round_trips(layer, seconds, 1)
    together = await round_trips(layer, seconds, IN_FLIGHT)
    if answering:
        answering.cancel()
    return Round(statistics.median(alone) * 1e6, len(together) / seconds)


def one_round(name: str, address: str, seconds: float) -> Round:
    """Start the other process, and measure one round."""
    if name == MEMORY:
        return asyncio.run(measure(name, address, seconds))
    process = multiprocessing.get_context("spawn").Process(target=answer_in_process, args=(name, address))
    process.start()
    try:
        return asyncio.run(measure(name, address, seconds))
    finally:
        process.terminate()
        process.join()


@contextlib.contextmanager
def redis_url(folder: Path) -> Iterator[str]:
    """Yield the URL of a Redis server."""
    if url := os.environ.get("REDIS_URL"):
        yield url
        return
    server = shutil.which("redis-server", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if server is None:
        sys.exit("channels_redis needs Redis; install redis-server, set REDIS_URL, or leave it out with --layers")
    path = folder / "redis.sock"
    options = ["--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(folder)]
    with subprocess.Popen([server, *options], stdout=subprocess.DEVNULL) as process:
        try:
            while not path.exists() and process.poll() is None:
                time.sleep(0.02)
            yield f"unix://{path}"
        finally:
            process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare round trips between two processes over channel layers.")
    parser.add_argument("--layers", nargs="+", choices=LAYERS, default=LAYERS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="length of each of the two phases of a round")
    options = parser.parse_args()
    found: dict[str, list[Round]] = {name: [] for name in options.layers}
    with contextlib.ExitStack() as stack:
        memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="channels-benchmark-", dir=memory)))
        addresses = {IPC: str(folder / "layer"), MEMORY: ""}
        if REDIS in found:
            addresses[REDIS] = stack.enter_context(redis_url(folder))
        for _ in range(options.rounds):
            for name, rounds in found.items():
                rounds.append(one_round(name, addresses[name], options.seconds))
    print(f"{'layer':16}{'median, µs':>12}{'round trips/s':>16}")
    for name, rounds in found.items():
        median_us, per_second = (statistics.median(figures) for figures in zip(*rounds, strict=True))
        print(f"{name:16}{median_us:12,.0f}{per_second:16,.0f}")


if __name__ == "__main__":
    main()
