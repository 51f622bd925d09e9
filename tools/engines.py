"""Measure the load generators against a fast server: ``python -m tools.engines``.

The server runs on one core, and the load generators run on another core. The engines alternate in each round, and each
figure is the median over the rounds:

- the highest rate over 10 kept-alive connections (``ceiling_rate``)
- the accuracy of an engine at 6,000 requests per second
- the highest rates of openloop over WebSockets, and its results with 20,000 deliveries per second to 5,000
  connections

The program prints JSON. CPU figures are shares of one core. Run the program on an idle machine, because other load on
the core reduces an engine's highest rate.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from loadtests import engines, hosts
from loadtests.engines import node
from loadtests.engines.openloop import ENGINE
from loadtests.observe.cores import pinned
from loadtests.workload import Conversation, Feature, Load, Request

RATE = 6000.0  # requests per second
CONNECTIONS = 10
COOL_DOWN_S = 0.5
NEEDED = {Feature.CLOSED_LOOP, Feature.FIXED_RATE}
FAST_SERVER = Path(__file__).with_name("fastserver.js")

ECHO_CONNECTIONS = 32
RECEIVERS = 100
PUBLISHERS = 4
WEBSOCKETS = 5000
ROOM = 50  # connections
DELIVERIES_PER_S = 20_000.0

Figures = dict[str, float | None]


def measure(
    *, rounds: int = 3, rate: float = RATE, ceiling_s: float = 3.0, fixed_s: float = 5.0, websockets: int = WEBSOCKETS
) -> dict[str, Figures]:
    """Return the figures of each engine and of each WebSocket load, by name.

    Raises:
        EngineError: If Node or its packages are missing.
    """
    cores = hosts.at("local").allot(None)
    core = cores.generator[0]
    names = [name for name, engine in engines.known().items() if engine.features >= NEEDED]
    found: dict[str, list[Figures]] = defaultdict(list)
    with _fast_server(cores.servers[0], "http") as (url, server):
        for number in range(rounds):
            for name in names[:: -1 if number % 2 else 1]:
                ceiling = Load.of_url(url, connections=CONNECTIONS, duration_s=ceiling_s, core=core)
                fixed = Load.of_url(url, rate=rate, duration_s=fixed_s, core=core)
                found[name].append({**_at_the_ceiling(name, ceiling, server), **_at_a_rate(name, fixed)})
    with _fast_server(cores.servers[0], "websocket") as (url, server):
        for _ in range(rounds):
            for name, load in _websocket_loads(url.rstrip("/"), core, ceiling_s, websockets).items():
                found[name].append(_over_websockets(load, server))
    return {name: _medians(figures) for name, figures in found.items()}


def _at_the_ceiling(name: str, load: Load, server: psutil.Process) -> Figures:
    time.sleep(COOL_DOWN_S)
    before = sum(server.cpu_times()[:2])
    result = engines.get(name).run(load)
    [generator] = result.generator
    return {
        "ceiling_rate": result.rate,
        "ceiling_cpu": generator.cpu_s / generator.wall_s,
        "requests_per_cpu_s": result.ok / generator.cpu_s,
        "ceiling_server_cpu": (sum(server.cpu_times()[:2]) - before) / generator.wall_s,
    }


def _at_a_rate(name: str, load: Load) -> Figures:
    time.sleep(COOL_DOWN_S)
    result = engines.get(name).run(load)
    [generator] = result.generator
    return {
        "planned": result.planned,
        "sent": result.sent,
        "unfinished": result.unfinished,
        "p50_ms": result.latency_ms["p50"],
        "p99_ms": result.latency_ms["p99"],
        "send_lag_p99_ms": result.send_lag_ms["p99"],
        "cpu": generator.cpu_s / generator.wall_s,
    }


def _websocket_loads(url: str, core: int, seconds: float, connections: int) -> dict[str, Load]:
    def load(conversation: Conversation, **options: Any) -> Load:
        given = {"duration_s": seconds, "core": core, "protocol": "websocket", **options}
        return Load(url, (Request("/"),), conversation=conversation, **given)

    rooms = Conversation("broadcast", receivers=connections, rooms=connections // ROOM)
    return {
        "echo": load(Conversation("echo"), connections=ECHO_CONNECTIONS),
        "broadcast": load(Conversation("broadcast", receivers=RECEIVERS), connections=PUBLISHERS),
        "many connections": load(rooms, rate=DELIVERIES_PER_S / ROOM, connections=1),
    }


def _over_websockets(load: Load, server: psutil.Process) -> Figures:
    """Open the connections of a load, measure the load, and return its figures."""
    time.sleep(COOL_DOWN_S)
    with ENGINE.generator(core=load.core) as generator:
        prepared = generator.prepare(load)
        before = sum(server.cpu_times()[:2])
        prepared.measure(load.duration_s)
        server_s = sum(server.cpu_times()[:2]) - before
        result = prepared.result()
    [used] = result.generator
    deliveries = result.deliveries if load.conversation and load.conversation.does == "broadcast" else None
    return {
        "messages_per_s": (deliveries.timely if deliveries else result.ok) / result.duration_s,
        "messages_per_cpu_s": (deliveries.delivered if deliveries else result.ok) / used.cpu_s,
        "missing": deliveries.missing if deliveries else 0,
        "lag_p99_ms": deliveries.lag_ms["p99"] if deliveries else None,
        "cpu": used.cpu_s / used.wall_s,
        "server_cpu": server_s / used.wall_s,
    }


def _medians(rounds: list[Figures]) -> Figures:
    """Return the median of each figure over the rounds, or None if the figure is missing in a round."""
    medians: Figures = {}
    for name in rounds[0]:
        values = [value for value in (figures[name] for figures in rounds) if value is not None]
        medians[name] = statistics.median(values) if len(values) == len(rounds) else None
    return medians


@contextlib.contextmanager
def _fast_server(core: int, protocol: str) -> Iterator[tuple[str, psutil.Process]]:
    with pinned(core):
        process = subprocess.Popen(
            [node.require(), str(FAST_SERVER), protocol],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    with process:
        assert process.stdout is not None
        try:
            yield f"{process.stdout.readline().strip()}/", psutil.Process(process.pid)
        finally:
            process.kill()


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
