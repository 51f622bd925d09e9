"""Round trips between two processes over each channel layer, the layers in turn, in several rounds.

The two processes are ``python -m loadtests.measure.layers.round_trips echo LAYER ADDRESS``, which prints READY once it
answers, and ``... round_trips measure LAYER ADDRESS SECONDS IN_FLIGHT BODY_BYTES``, which prints a LayerRound as JSON.
Warm-up: one round trip at a time, for half a second, or for SECONDS if that is less.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import psutil

from loadtests.cleanup.program import running
from loadtests.measure.layers.layer_processes import READY, address, channel_layer, line, module
from loadtests.measure.layers.rounds import IPC, MEMORY, PIPES, REDIS, SOCKET, LayerResult, LayerRound, LayersReport

CHANNEL = "layers.echo"
IN_FLIGHT = 64
BODY_BYTES = 1000
WARM_UP_S = 0.5  # at most
GRACE_S = 5.0  # after the last send; what takes longer is lost


def measure(
    *,
    duration_s: float = 2.0,
    rounds: int = 3,
    progress: Callable[[str, int, int], None] = lambda layer, done, total: None,
) -> LayersReport:
    """Measures round trips over channels_ipc, channels_redis, a bare Unix socket, bare pipes, and in memory within one
    process.

    Each layer gets, in every round, two fresh processes (and Redis) on the cores that this process may use, and
    ``duration_s`` seconds of each of two phases: one round trip at a time, then IN_FLIGHT at once, of BODY_BYTES bytes.
    The order of layers is reversed from round to round. Raises UserError where there is no Redis, or a process fails.
    """
    cores = tuple(sorted(os.sched_getaffinity(0)))
    names = (SOCKET, PIPES, MEMORY, IPC, REDIS)
    found: dict[str, list[LayerRound]] = {name: [] for name in names}
    for number in range(rounds):
        for turn, name in enumerate(names if number % 2 == 0 else names[::-1]):
            progress(name, number * len(names) + turn, rounds * len(names))
            found[name].append(_round(name, duration_s, cores))
    return LayersReport(
        layers=tuple(LayerResult(name, tuple(found[name])) for name in names),
        cores=cores,
        duration_s=duration_s,
        in_flight=IN_FLIGHT,
        body_bytes=BODY_BYTES,
    )


def _round(name: str, duration_s: float, cores: Sequence[int]) -> LayerRound:
    with contextlib.ExitStack() as stack:
        where = stack.enter_context(address(name, cores))
        if name != MEMORY:
            echo = stack.enter_context(running(module("round_trips", "echo", name, where), cores))
            line(echo, name)  # however long it takes to start on a busy machine
        numbers = (duration_s, IN_FLIGHT, BODY_BYTES)
        with running(module("round_trips", "measure", name, where, *numbers), cores) as client:
            return LayerRound(**json.loads(line(client, name)))


def echo_over_socket(path: str) -> None:
    """Sends back what one client sends, until it disconnects."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print(READY, flush=True)
        connection, _ = listener.accept()
        with connection:
            while data := connection.recv(65536):
                connection.sendall(data)


async def echo_over_layer(layer: Any) -> None:
    """Answers each message on its reply channel, one at a time, as a worker does."""
    while True:
        message = await layer.receive(CHANNEL)
        await layer.send(message["reply_channel"], {"type": "echo", "body": message["body"]})


async def echo(name: str, address: str) -> None:
    layer = channel_layer(name, address)
    print(READY, flush=True)
    await echo_over_layer(layer)


@dataclasses.dataclass
class Trips:
    """Round trips of one phase: begun, the seconds of each completed one, and CPU seconds of all processes."""

    sent: int = 0
    took: list[float] = dataclasses.field(default_factory=list)
    elapsed: float = 0.0
    cpu: float = 0.0


def _cpu() -> float:
    """CPU seconds of all processes of the benchmark: those below the one that started our guard."""
    cpu = 0.0
    for process in psutil.Process(psutil.Process(os.getppid()).ppid()).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            cpu += times.user + times.system
    return cpu


def to_round(alone: Trips, together: Trips) -> LayerRound:
    """The figures of both phases. Raises ValueError where nothing came back in one of them."""
    if not alone.took or not together.took:
        raise ValueError(f"no message came back within {GRACE_S:g} s")
    p50, p99 = np.percentile(alone.took, [50, 99]) * 1e6
    return LayerRound(
        p50_us=float(p50),
        p99_us=float(p99),
        per_second=len(together.took) / together.elapsed,
        cpu_us=together.cpu / len(together.took) * 1e6,
        sent=alone.sent + together.sent,
        delivered=len(alone.took) + len(together.took),
    )


async def over_layer(layer: Any, body: bytes, seconds: float, in_flight: int) -> Trips:
    """Round trips for ``seconds``, always ``in_flight`` under way and each of these at least once, with a reply channel
    for each trip."""
    trips = Trips(cpu=-_cpu())
    begin = time.perf_counter()

    async def one_after_another() -> None:
        back = begin
        while back < begin + seconds:
            sent = time.perf_counter()
            trips.sent += 1
            reply_channel = await layer.new_channel()
            await layer.send(CHANNEL, {"type": "echo", "body": body, "reply_channel": reply_channel})
            await layer.receive(reply_channel)
            back = time.perf_counter()
            trips.took.append(back - sent)

    tasks = [asyncio.create_task(one_after_another()) for _ in range(in_flight)]
    done, late = await asyncio.wait(tasks, timeout=seconds + GRACE_S)
    trips.elapsed = time.perf_counter() - begin
    trips.cpu += _cpu()
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    for task in done:
        task.result()
    return trips


async def measure_layer(name: str, address: str, seconds: float, in_flight: int, body: bytes) -> LayerRound:
    layer = channel_layer(name, address)
    echo = asyncio.create_task(echo_over_layer(layer)) if name == MEMORY else None
    await over_layer(layer, body, min(WARM_UP_S, seconds), 1)
    alone = await over_layer(layer, body, seconds, 1)
    together = await over_layer(layer, body, seconds, in_flight)
    if echo:
        echo.cancel()
    return to_round(alone, together)


def over_socket(connection: socket.socket, body: bytes, seconds: float, in_flight: int) -> Trips:
    """The same over a stream socket, where messages have one length and answers come in order."""
    trips = Trips(cpu=-_cpu())
    begin = time.perf_counter()
    under_way: list[float] = []
    received = 0
    while True:
        now = time.perf_counter()
        if len(under_way) < in_flight and (now < begin + seconds or trips.sent < in_flight):
            under_way.append(now)
            trips.sent += 1
            connection.sendall(body)
            continue
        if not under_way:
            break
        received += len(connection.recv(65536))
        while received >= len(body):
            received -= len(body)
            trips.took.append(time.perf_counter() - under_way.pop(0))
    trips.elapsed = time.perf_counter() - begin
    trips.cpu += _cpu()
    return trips


def measure_socket(path: str, seconds: float, in_flight: int, body: bytes) -> LayerRound:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(GRACE_S)
        connection.connect(path)
        over_socket(connection, body, min(WARM_UP_S, seconds), 1)
        return to_round(over_socket(connection, body, seconds, 1), over_socket(connection, body, seconds, in_flight))


def main(role: str, name: str, address: str, *numbers: str) -> None:
    if role == "echo":
        echo_over_socket(address) if name == SOCKET else asyncio.run(echo(name, address))
        return
    seconds, in_flight, body = float(numbers[0]), int(numbers[1]), bytes(int(numbers[2]))
    if name == SOCKET:
        result = measure_socket(address, seconds, in_flight, body)
    else:
        result = asyncio.run(measure_layer(name, address, seconds, in_flight, body))
    print(json.dumps(dataclasses.asdict(result)))


if __name__ == "__main__":
    main(*sys.argv[1:])
