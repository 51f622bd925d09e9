"""Runs the benchmark: two processes a layer, the layers in turn, several rounds."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence

from loadtests.cleanup import folders
from loadtests.errors import UserError, reason_of
from loadtests.measure.layers import redis
from loadtests.measure.layers.children import command, running
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
    ``body_bytes`` bytes. The order of layers is reversed from round to round. ``progress(layer, done, total)`` is
    called before each layer's turn. Raises UserError where there is no Redis, or a process fails.
    """
    cores = tuple(sorted(cores if cores is not None else os.sched_getaffinity(0)))
    names = (SOCKET, IPC, REDIS)
    found: dict[str, list[LayerRound]] = {name: [] for name in names}
    for number in range(rounds):
        for turn, name in enumerate(names if number % 2 == 0 else names[::-1]):
            progress(name, number * len(names) + turn, rounds * len(names))
            found[name].append(_round(name, duration_s, in_flight, body_bytes, cores))
    return LayersReport(
        layers=tuple(LayerResult(name, tuple(found[name])) for name in names),
        cores=cores,
        duration_s=duration_s,
        in_flight=in_flight,
        body_bytes=body_bytes,
    )


def _round(name: str, duration_s: float, in_flight: int, body_bytes: int, cores: Sequence[int]) -> LayerRound:
    # In memory, as a deployment's would be.
    with folders.private("layers", memory=True) as folder:
        if name == REDIS:
            with redis.serving(folder, cores) as url:
                return _between(name, url, duration_s, in_flight, body_bytes, cores)
        return _between(name, str(folder / "exchange"), duration_s, in_flight, body_bytes, cores)


def _between(
    name: str, address: str, duration_s: float, in_flight: int, body_bytes: int, cores: Sequence[int]
) -> LayerRound:
    echo = command("loadtests.measure.layers.echo", name, address)
    client = command("loadtests.measure.layers.client", name, address, str(duration_s), str(in_flight), str(body_bytes))
    # The client is started once the other is ready: how long that takes on a busy machine, no time limit can know.
    with running(echo, cores) as answering:
        line(answering, name)
        with running(client, cores) as measuring:
            return LayerRound(**json.loads(line(measuring, name)))


def line(process: subprocess.Popen[str], name: str) -> str:
    """What the process prints. Raises UserError where it ends instead."""
    assert process.stdout
    printed = process.stdout.readline()
    if not printed:
        _, errors = process.communicate()
        raise UserError(f"{name} could not be measured: {reason_of(errors)}")
    return printed
