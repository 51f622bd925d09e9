"""Counts every delivery over each channel layer: to a group in two processes, and with one receiver that is frozen."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
from collections.abc import Callable, Sequence

from loadtests.measure.layers.groups import Tally
from loadtests.measure.layers.layer_processes import address, line, module, running
from loadtests.measure.layers.rounds import IPC, MEMORY, PUBSUB, REDIS

PROCESSES = 2
RECEIVERS = 5  # in each process
FROZEN_MESSAGES = 500
FROZEN_PER_S = 50.0  # slow enough for the other receivers


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
    cores: Sequence[int] | None = None,
    progress: Callable[[str, int, int], None] = lambda layer, done, total: None,
) -> list[LayerDeliveries]:
    """Sends ``count`` deliveries over each layer, and then ``frozen_messages`` with a frozen receiver.

    All processes run on ``cores``, by default all that this process may use. Raises UserError where there is no Redis,
    or a process fails.
    """
    cores = tuple(sorted(cores if cores is not None else os.sched_getaffinity(0)))
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
