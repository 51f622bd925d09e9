"""The processes that count deliveries to a group, in which each receiver is a channel:
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
import sys
from typing import Any

from loadtests.measure.layers.layer_processes import READY, channel_layer

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


class Acknowledging:
    """Tells the publisher once all receivers of the process have every message of a batch."""

    def __init__(self, layer: Any, receivers: int) -> None:
        self._layer = layer
        self._receivers = receivers
        self._reached: dict[int, int] = {}

    async def reached(self, message: dict[str, Any]) -> None:
        number = message["number"]
        if not message["answer"] or number % BATCH != BATCH - 1:
            return
        self._reached[number] = self._reached.get(number, 0) + 1
        if self._reached[number] == self._receivers:
            await self._layer.send(message["answer"], {"type": "reached"})


async def receive(layer: Any, receivers: int, messages: int, frozen: bool) -> list[Tally]:
    """The tally of each receiver. Prints READY once all are in the group."""
    channels = [await layer.new_channel() for _ in range(receivers)]
    for channel in channels:
        await layer.group_add(GROUP, channel)
    print(READY, flush=True)
    acknowledging = Acknowledging(layer, receivers)

    async def one(channel: str, within_s: float, next_within_s: float) -> Tally:
        numbers: list[int] = []
        with contextlib.suppress(asyncio.TimeoutError):
            while not numbers or numbers[-1] < messages - 1:
                message = await asyncio.wait_for(layer.receive(channel), within_s)
                numbers.append(message["number"])
                await acknowledging.reached(message)
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
