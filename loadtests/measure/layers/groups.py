"""Every delivery over each channel layer counted: to a group in two processes, and with one receiver that is frozen.

In the processes that count, each receiver is a channel:
``python -m loadtests.measure.layers.groups receive LAYER ADDRESS RECEIVERS MESSAGES frozen|reading``, whose first
receiver, if frozen, reads nothing until the others have all;
``... groups publish LAYER ADDRESS MESSAGES PROCESSES PER_SECOND``, which with 0 per second waits after every few
messages until all receivers have them; ``... groups alone LAYER ADDRESS RECEIVERS MESSAGES PER_SECOND``, both in one
process.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from loadtests.cleanup.program import running
from loadtests.measure.layers.layer_processes import READY, address, channel_layer, line, module
from loadtests.measure.layers.rounds import IPC, MEMORY, PUBSUB, REDIS

PROCESSES = 2
RECEIVERS = 5  # in each process
FROZEN_MESSAGES = 500
FROZEN_PER_S = 50.0  # slow enough for the other receivers
GROUP = "layers.group"
BATCH = 10  # with five receivers in a process it leaves half of a capacity of 100 free
FIRST_WITHIN_S = 60.0
NEXT_WITHIN_S = 5.0
DRAINED_WITHIN_S = 1.0  # for the frozen one everything is there by then
ANSWERED_WITHIN_S = 5.0


@dataclasses.dataclass(frozen=True)
class Tally:
    """The messages at one receiver; ``first`` and ``last`` are the smallest and the largest number, -1 where none
    came."""

    expected: int
    received: int
    missing: int
    duplicates: int
    reordered: int
    first: int
    last: int


def tally(numbers: list[int], expected: int) -> Tally:
    """Counts the numbers in their order; one that is smaller than one before it is out of order."""
    highest, reordered = -1, 0
    for number in numbers:
        reordered += number < highest
        highest = max(highest, number)
    different = len(set(numbers))
    return Tally(
        expected=expected,
        received=len(numbers),
        missing=expected - different,
        duplicates=len(numbers) - different,
        reordered=reordered,
        first=min(numbers, default=-1),
        last=highest,
    )


@dataclasses.dataclass(frozen=True)
class LayerDeliveries:
    """Deliveries over one layer: ``paced`` at every receiver while the publisher waits for them (none where the layer
    is of one process); then ``frozen`` at the receiver that reads nothing until all is published, and at the others of
    its process and of the other process."""

    name: str
    paced: tuple[Tally, ...]
    frozen: Tally
    same_process: tuple[Tally, ...]
    other_process: tuple[Tally, ...]


def total(tallies: Sequence[Tally]) -> Tally:
    """Several receivers together."""
    counts = {
        name: sum(getattr(one, name) for one in tallies)
        for name in ("expected", "received", "missing", "duplicates", "reordered")
    }
    firsts = [one.first for one in tallies if one.received]
    return Tally(**counts, first=min(firsts, default=-1), last=max((one.last for one in tallies), default=-1))


def deliveries(
    count: int,
    frozen_messages: int = FROZEN_MESSAGES,
    progress: Callable[[str, int, int], None] = lambda layer, done, total: None,
) -> list[LayerDeliveries]:
    """Sends ``count`` deliveries over each layer, and then ``frozen_messages`` with a frozen receiver.

    All processes run on the cores that this process may use. Raises UserError where there is no Redis, or a process
    fails.
    """
    cores = tuple(sorted(os.sched_getaffinity(0)))
    names = (MEMORY, IPC, REDIS, PUBSUB)
    found = []
    for done, name in enumerate(names):
        progress(name, done, len(names))
        if name == MEMORY:
            frozen, *others = _in_one_process(frozen_messages, cores)
            found.append(LayerDeliveries(name, (), frozen, tuple(others), ()))
            continue
        paced = _in_two_processes(name, count // (PROCESSES * RECEIVERS), 0, "reading", cores)
        frozen, *others = _in_two_processes(name, frozen_messages, FROZEN_PER_S, "frozen", cores)
        same, other = others[: RECEIVERS - 1], others[RECEIVERS - 1 :]
        found.append(LayerDeliveries(name, tuple(paced), frozen, tuple(same), tuple(other)))
    return found


def _in_two_processes(
    name: str, messages: int, per_second: float, first_receiver: str, cores: Sequence[int]
) -> list[Tally]:
    with contextlib.ExitStack() as stack:
        where = stack.enter_context(address(name, cores))
        receivers = [
            stack.enter_context(running(module("groups", "receive", name, where, RECEIVERS, messages, state), cores))
            for state in (first_receiver, "reading")
        ]
        for process in receivers:
            line(process, name)
        with running(module("groups", "publish", name, where, messages, PROCESSES, per_second), cores) as publisher:
            line(publisher, name)
            return [one for process in receivers for one in _tallies(process, name)]


def _in_one_process(messages: int, cores: Sequence[int]) -> list[Tally]:
    with running(module("groups", "alone", MEMORY, "", RECEIVERS, messages, FROZEN_PER_S), cores) as process:
        line(process, MEMORY)
        return _tallies(process, MEMORY)


def _tallies(process: subprocess.Popen[str], name: str) -> list[Tally]:
    return [Tally(**one) for one in json.loads(line(process, name))]


async def receive(layer: Any, receivers: int, messages: int, frozen: bool) -> list[Tally]:
    """The tally of each receiver. Prints READY once all are in the group."""
    channels = [await layer.new_channel() for _ in range(receivers)]
    for channel in channels:
        await layer.group_add(GROUP, channel)
    print(READY, flush=True)
    reached: Counter[int] = Counter()

    async def acknowledge(message: dict[str, Any]) -> None:
        """Tells the publisher once all receivers of the process have every message of a batch."""
        number = message["number"]
        if message["answer"] and number % BATCH == BATCH - 1:
            reached[number] += 1
            if reached[number] == receivers:
                await layer.send(message["answer"], {"type": "reached"})

    async def one(channel: str, within_s: float, next_within_s: float) -> Tally:
        numbers: list[int] = []
        with contextlib.suppress(asyncio.TimeoutError):
            while not numbers or numbers[-1] < messages - 1:
                message = await asyncio.wait_for(layer.receive(channel), within_s)
                numbers.append(message["number"])
                await acknowledge(message)
                within_s = next_within_s
        return tally(numbers, messages)

    reading = (one(channel, FIRST_WITHIN_S, NEXT_WITHIN_S) for channel in channels[frozen:])
    tallies = await asyncio.gather(*reading)
    return [*([await one(channels[0], DRAINED_WITHIN_S, DRAINED_WITHIN_S)] if frozen else []), *tallies]


async def publish(layer: Any, messages: int, processes: int, per_second: float) -> None:
    """Publishes to the group. After a batch that is not acknowledged in full it waits for no other."""
    answer = await layer.new_channel()
    paced = not per_second
    loop = asyncio.get_running_loop()
    begin = loop.time()
    for number in range(messages):
        if per_second:
            await asyncio.sleep(max(0.0, begin + number / per_second - loop.time()))
        await layer.group_send(GROUP, {"type": "numbered", "number": number, "answer": answer if paced else ""})
        if paced and number % BATCH == BATCH - 1:
            try:
                for _ in range(processes):
                    await asyncio.wait_for(layer.receive(answer), ANSWERED_WITHIN_S)
            except asyncio.TimeoutError:
                paced = False


async def alone(layer: Any, receivers: int, messages: int, per_second: float) -> list[Tally]:
    """All in one process with a frozen first receiver: for a layer in memory."""
    tallies, _ = await asyncio.gather(
        receive(layer, receivers, messages, True), publish(layer, messages, 1, per_second)
    )
    return tallies


async def main(role: str, name: str, address: str, *numbers: str) -> None:
    layer = channel_layer(name, address)
    found = []
    if role == "receive":
        found = await receive(layer, int(numbers[0]), int(numbers[1]), numbers[2] == "frozen")
    elif role == "alone":
        found = await alone(layer, int(numbers[0]), int(numbers[1]), float(numbers[2]))
    else:
        await publish(layer, int(numbers[0]), int(numbers[1]), float(numbers[2]))
    print(json.dumps([dataclasses.asdict(one) for one in found]), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
