"""A million messages over channels_ipc, with what they leave behind:
``python -m loadtests.measure.layers.million [MESSAGES]``.

Requests and answers between two processes, each answer on a reply channel made for it alone: the traffic under which
the IPC layer of 2016 grew by a dead key a request, and slowed down with each. Prints sizes after every tenth.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import psutil

from loadtests.cleanup import folders
from loadtests.measure.layers.children import command, running
from loadtests.measure.layers.layer import CHANNEL, channel_layer
from loadtests.measure.layers.rounds import IPC

IN_FLIGHT = 64
ROW = "{:>12} {:>12} {:>16} {:>14} {:>14} {:>14} {:>14}"


async def exchange(folder: Path, messages: int, echo: psutil.Process) -> None:
    """Sends and receives so many messages, the answers included, and prints a line after every tenth of them."""
    layer = channel_layer(IPC, str(folder))
    body = os.urandom(200)

    async def round_trips(count: int) -> None:
        for _ in range(count):
            reply_channel = await layer.new_channel()
            await layer.send(CHANNEL, {"type": "echo", "body": body, "reply_channel": reply_channel})
            await layer.receive(reply_channel)

    print(
        ROW.format("messages", "per second", "files in folder", "their bytes", "keys in use", "RSS, kB", "echo's, kB")
    )
    done = 0
    for step in range(1, 11):
        began = time.perf_counter()
        trips = (messages * step // 10 - done) // 2
        await asyncio.gather(*(round_trips(trips // IN_FLIGHT + (n < trips % IN_FLIGHT)) for n in range(IN_FLIGHT)))
        done += trips * 2
        figures = (
            done,
            round(trips * 2 / (time.perf_counter() - began)),
            *held(folder),
            layer.statistics()["entries"],
            psutil.Process().memory_info().rss // 1024,
            echo.memory_info().rss // 1024,
        )
        print(ROW.format(*(f"{figure:,}" for figure in figures)), flush=True)
    await layer.close()


def held(folder: Path) -> tuple[int, int]:
    """The files in a folder, and the bytes that they take of the file system."""
    files = list(folder.iterdir())
    return len(files), sum(file.stat().st_blocks * 512 for file in files)


def main(messages: int = 1_000_000) -> None:
    with (
        folders.private("million", memory=True) as folder,
        running(command("loadtests.measure.layers.echo", IPC, str(folder)), os.sched_getaffinity(0)) as guard,
    ):
        asyncio.run(exchange(folder, messages, _child(guard.pid)))


def _child(guard: int) -> psutil.Process:
    """The process that the guard runs, once it runs it."""
    while True:
        if children := psutil.Process(guard).children():
            return children[0]
        time.sleep(0.01)


if __name__ == "__main__":
    main(*(int(number) for number in sys.argv[1:]))
