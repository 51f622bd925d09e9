"""The benchmark of round trips: two processes a layer, the layers in turn, several rounds."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence

from loadtests.measure.layers.layer_processes import address, line, module, running
from loadtests.measure.layers.rounds import IPC, REDIS, SOCKET, LayerResult, LayerRound, LayersReport


def measure(
    *,
    duration_s: float = 2.0,
    rounds: int = 3,
    in_flight: int = 64,
    body_bytes: int = 1000,
    cores: Sequence[int] | None = None,
    progress: Callable[[str, int, int], None] = lambda layer, done, total: None,
) -> LayersReport:
    """Measures round trips over channels_ipc, channels_redis and a bare Unix socket.

    Each layer gets, in every round, two fresh processes (and Redis) on ``cores``, by default all that this process may
    use, and ``duration_s`` seconds of each of two phases: one round trip at a time, then ``in_flight`` at once, of
    ``body_bytes`` bytes. The order of layers is reversed from round to round. Raises UserError where there is no Redis,
    or a process fails.
    """
    cores = tuple(sorted(cores if cores is not None else os.sched_getaffinity(0)))
    names = (SOCKET, IPC, REDIS)
    found: dict[str, list[LayerRound]] = {name: [] for name in names}
    for number in range(rounds):
        for turn, name in enumerate(names if number % 2 == 0 else names[::-1]):
            progress(name, number * len(names) + turn, rounds * len(names))
            found[name].append(_round(name, (duration_s, in_flight, body_bytes), cores))
    return LayersReport(
        layers=tuple(LayerResult(name, tuple(found[name])) for name in names),
        cores=cores,
        duration_s=duration_s,
        in_flight=in_flight,
        body_bytes=body_bytes,
    )


def _round(name: str, numbers: tuple[float, int, int], cores: Sequence[int]) -> LayerRound:
    with address(name, cores) as where, running(module("round_trips", "echo", name, where), cores) as echo:
        line(echo, name)  # however long it takes to start on a busy machine
        with running(module("round_trips", "measure", name, where, *numbers), cores) as client:
            return LayerRound(**json.loads(line(client, name)))
