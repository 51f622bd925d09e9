"""Every delivery over each channel layer accounted for: to a group that spans two processes, and beside a receiver that
reads nothing for a while."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from loadtests.cleanup import folders
from loadtests.measure.layers import redis
from loadtests.measure.layers.children import command, running
from loadtests.measure.layers.groups import Tally
from loadtests.measure.layers.measure import line
from loadtests.measure.layers.rounds import IPC, MEMORY, PUBSUB, REDIS

PROCESSES = 2
RECEIVERS = 5  # in each process
FROZEN_MESSAGES = 500
FROZEN_PER_S = 50.0  # which those that read have no trouble with


@dataclasses.dataclass(frozen=True)
class LayerDeliveries:
    """What became of the messages over one layer: at every receiver while the publisher waits for them (``paced``; none
    where the layer is of one process), at the receiver that reads nothing until all is published (``frozen``), and at
    the others of its process and of the other process meanwhile (``beside``, ``elsewhere``)."""

    name: str
    paced: tuple[Tally, ...]
    frozen: Tally
    beside: tuple[Tally, ...]
    elsewhere: tuple[Tally, ...]

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


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
    cores: Sequence[int] | None = None,
    progress: Callable[[str, int, int], None] = lambda layer, done, total: None,
) -> list[LayerDeliveries]:
    """Sends over each layer as many deliveries as ``count``, and then ``frozen_messages`` beside a frozen receiver.

    All processes run on ``cores``, by default all that this process may use. ``progress(layer, done, total)`` is called
    before each layer's turn. Raises UserError where there is no Redis, or a process fails.
    """
    cores = tuple(sorted(cores if cores is not None else os.sched_getaffinity(0)))
    names = (MEMORY, IPC, REDIS, PUBSUB)
    found = []
    for done, name in enumerate(names):
        progress(name, done, len(names))
        if name == MEMORY:
            frozen, *beside = _alone(frozen_messages, cores)
            found.append(LayerDeliveries(name, (), frozen, tuple(beside), ()))
            continue
        paced = _layer(name, count // (PROCESSES * RECEIVERS), 0, False, cores)
        frozen, *others = _layer(name, frozen_messages, FROZEN_PER_S, True, cores)
        found.append(
            LayerDeliveries(name, tuple(paced), frozen, tuple(others[: RECEIVERS - 1]), tuple(others[RECEIVERS - 1 :]))
        )
    return found


def _layer(name: str, messages: int, per_second: float, frozen: bool, cores: Sequence[int]) -> list[Tally]:
    with folders.private("layers", memory=True) as folder:
        if name in (REDIS, PUBSUB):
            with redis.serving(folder, cores) as url:
                return _between(name, url, messages, per_second, frozen, cores)
        return _between(name, str(folder / "exchange"), messages, per_second, frozen, cores)


def _between(
    name: str, address: str, messages: int, per_second: float, frozen: bool, cores: Sequence[int]
) -> list[Tally]:
    def receiving(state: str) -> list[str]:
        return command(
            "loadtests.measure.layers.groups", "receive", name, address, str(RECEIVERS), str(messages), state
        )

    publisher = command(
        "loadtests.measure.layers.groups", "publish", name, address, str(messages), str(PROCESSES), str(per_second)
    )
    with (
        running(receiving("frozen" if frozen else "reading"), cores) as first,
        running(receiving("reading"), cores) as second,
    ):
        for process in (first, second):
            line(process, name)
        with running(publisher, cores) as publishing:
            line(publishing, name)
            return [one for process in (first, second) for one in _tallies(process, name)]


def _alone(messages: int, cores: Sequence[int]) -> list[Tally]:
    wanted = (str(RECEIVERS), str(messages), str(FROZEN_PER_S))
    with running(command("loadtests.measure.layers.groups", "alone", MEMORY, "", *wanted), cores) as process:
        line(process, MEMORY)
        return _tallies(process, MEMORY)


def _tallies(process: subprocess.Popen[str], name: str) -> list[Tally]:
    return [Tally(**one) for one in json.loads(line(process, name))]
