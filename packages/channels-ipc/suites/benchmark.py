"""Compare how fast channel layers send messages between two processes.

``python packages/channels-ipc/suites/benchmark.py`` measures channels_ipc, channels_redis, and the pub/sub layer of
channels_redis alternately, in several rounds. In each round, the program sends three kinds of traffic to a new process:

- round trips: the new process answers each message on its reply channel. The program first sends one message at a time,
  and then 64 at once.
- one to one: the program sends batches of messages to one channel.
- group: the program sends batches of messages to a group of 100 channels in the new process.

The layers of channels_redis use the Redis server at REDIS_URL, or a ``redis-server`` that the program starts on a Unix
socket. The program needs about three minutes, and prints a table with the median, the minimum and the maximum of the
rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

IPC, REDIS, PUBSUB = "channels_ipc", "channels_redis", "channels_redis, pub/sub"
LAYERS = (IPC, REDIS, PUBSUB)
GROUP = "benchmark"
MEMBERS = 100
IN_FLIGHT = 64
BODY = bytes(1000)
DELIVERIES_PER_BATCH = 1000
CAPACITY = 10 * DELIVERIES_PER_BATCH
START_TIMEOUT_S = 30
BATCH_TIMEOUT_S = 30
# Time for a subscription, because the pub/sub layer doesn't wait until Redis confirms it.
SUBSCRIPTION_S = 0.5


class Round(NamedTuple):
    """The results of a layer in a round.

    Attributes:
        median_us: The median time of a round trip in µs, with one message at a time.
        round_trips: Round trips per second, with 64 messages at once.
        one_to_one: Deliveries per second on one channel.
        group: Deliveries per second to a group of 100 channels.
    """

    median_us: float
    round_trips: float
    one_to_one: float
    group: float


LABELS = {
    "median_us": "median round trip, µs",
    "round_trips": f"round trips per second, {IN_FLIGHT} at once",
    "one_to_one": "deliveries per second, one to one",
    "group": f"deliveries per second, group of {MEMBERS} in one process",
}


def channel_layer(name: str, address: str) -> Any:
    """Return a channel layer by name. ``address`` is a folder for channels_ipc, and a URL for channels_redis."""
    if name == IPC:
        from channels_ipc.core import IPCChannelLayer

        return IPCChannelLayer(path=address, capacity=CAPACITY)
    # With redis-py 8, idle readers fail after five seconds unless socket_timeout is None.
    hosts = [{"address": address, "socket_timeout": None, "max_connections": 1000}]
    if name == REDIS:
        from channels_redis.core import RedisChannelLayer

        return RedisChannelLayer(hosts=hosts, capacity=CAPACITY)
    from channels_redis.pubsub import RedisPubSubChannelLayer

    return RedisPubSubChannelLayer(hosts=hosts, capacity=CAPACITY)


async def answer(layer: Any, connection: Connection) -> None:
    """Answer each message on its reply channel."""
    channel = await layer.new_channel()
    await asyncio.sleep(SUBSCRIPTION_S)
    connection.send(channel)
    while True:
        message = await layer.receive(channel)
        await layer.send(message["reply_channel"], {"type": "echo", "body": message["body"]})


async def count(layer: Any, connection: Connection, members: int) -> None:
    """Receive messages on all channels of the group, and report each complete batch over the pipe."""
    channels = [await layer.new_channel() for _ in range(members)]
    for channel in channels:
        await layer.group_add(GROUP, channel)
    await asyncio.sleep(SUBSCRIPTION_S)
    received = 0

    async def receive(channel: str) -> None:
        nonlocal received
        while True:
            await layer.receive(channel)
            received += 1
            if received % DELIVERIES_PER_BATCH == 0:
                connection.send(received)

    connection.send(channels[0])
    await asyncio.gather(*map(receive, channels))


def serve(name: str, address: str, connection: Connection, members: int) -> None:
    """Receive messages until the process is terminated. If ``members`` is 0, answer each message."""
    layer = channel_layer(name, address)
    asyncio.run(count(layer, connection, members) if members else answer(layer, connection))


@contextlib.contextmanager
def other_process(name: str, address: str, members: int = 0) -> Iterator[tuple[str, Connection]]:
    """Start a process that receives messages. Yield its channel, and the pipe for its reports."""
    spawning = multiprocessing.get_context("spawn")
    here, there = spawning.Pipe()
    process = spawning.Process(target=serve, args=(name, address, there, members))
    process.start()
    try:
        yield wait_for_report(here, START_TIMEOUT_S), here
    finally:
        process.terminate()
        process.join()


def wait_for_report(connection: Connection, timeout_s: float) -> Any:
    if not connection.poll(timeout_s):
        sys.exit(f"The receiving process sent no report for {timeout_s} s. Repeat the benchmark on an idle machine")
    return connection.recv()


async def round_trips(layer: Any, channel: str, seconds: float, in_flight: int) -> list[float]:
    """Send messages for some seconds, and return the duration of each round trip in seconds."""
    durations: list[float] = []
    reply_channels = [await layer.new_channel() for _ in range(in_flight)]
    end = time.perf_counter() + seconds

    async def one_after_another(reply_channel: str) -> None:
        now = time.perf_counter()
        while now < end:
            begin = now
            await layer.send(channel, {"type": "echo", "body": BODY, "reply_channel": reply_channel})
            await layer.receive(reply_channel)
            now = time.perf_counter()
            durations.append(now - begin)

    await asyncio.gather(*map(one_after_another, reply_channels))
    return durations


async def measure_round_trips(name: str, address: str, channel: str, seconds: float) -> tuple[float, float]:
    layer = channel_layer(name, address)
    await round_trips(layer, channel, seconds / 4, 1)
    alone = await round_trips(layer, channel, seconds, 1)
    together = await round_trips(layer, channel, seconds, IN_FLIGHT)
    return statistics.median(alone) * 1e6, len(together) / seconds


async def measure_deliveries(
    name: str, address: str, channel: str, connection: Connection, seconds: float, members: int
) -> float:
    """Return the number of deliveries per second, measured over all complete batches after the first batch."""
    layer = channel_layer(name, address)
    send = functools.partial(layer.group_send, GROUP) if members > 1 else functools.partial(layer.send, channel)

    async def send_batch() -> None:
        for _ in range(DELIVERIES_PER_BATCH // members):
            await send({"type": "news", "body": BODY})
        await asyncio.to_thread(wait_for_report, connection, BATCH_TIMEOUT_S)

    await send_batch()
    batches, begin, now = 0, time.perf_counter(), 0.0
    while now < begin + seconds:
        await send_batch()
        batches += 1
        now = time.perf_counter()
    return batches * DELIVERIES_PER_BATCH / (now - begin)


def one_round(name: str, address: str, seconds: float) -> Round:
    with other_process(name, address) as (channel, _):
        median_us, per_second = asyncio.run(measure_round_trips(name, address, channel, seconds))
    deliveries = []
    for members in (1, MEMBERS):
        with other_process(name, address, members) as (channel, connection):
            deliveries.append(asyncio.run(measure_deliveries(name, address, channel, connection, seconds, members)))
    return Round(median_us, per_second, *deliveries)


@contextlib.contextmanager
def redis_url(folder: Path) -> Iterator[str]:
    """Yield the URL of a Redis server, and start the server if REDIS_URL isn't set."""
    if url := os.environ.get("REDIS_URL"):
        yield url
        return
    server = shutil.which("redis-server", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if server is None:
        sys.exit("channels_redis requires Redis. Install redis-server, set REDIS_URL, or use --layers channels_ipc")
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
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--layers", nargs="+", choices=LAYERS, default=LAYERS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="seconds for each of a round's four measurements")
    options = parser.parse_args()
    found: dict[str, list[Round]] = {name: [] for name in options.layers}
    with contextlib.ExitStack() as stack:
        memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="channels-benchmark-", dir=memory)))
        addresses = dict.fromkeys(LAYERS, str(folder / "layer"))
        if found.keys() - {IPC}:
            addresses[REDIS] = addresses[PUBSUB] = stack.enter_context(redis_url(folder))
        for _ in range(options.rounds):
            for name, rounds in found.items():
                rounds.append(one_round(name, addresses[name], options.seconds))
    print("| | " + " | ".join(found) + " |")
    print("| --- |" + " --- |" * len(found))
    for field, label in LABELS.items():
        cells = [cell([getattr(one, field) for one in rounds]) for rounds in found.values()]
        print(f"| {label} | " + " | ".join(cells) + " |")


def cell(figures: list[float]) -> str:
    """Return the median and the range of a figure over the rounds."""
    return f"{statistics.median(figures):,.0f} ({min(figures):,.0f} to {max(figures):,.0f})"


if __name__ == "__main__":
    main()
