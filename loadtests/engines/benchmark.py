"""The engines compared: ``python -m loadtests engines``.

All load the same fast server, which has a core of its own, from the same other core: as fast as ten kept-alive
connections are answered (the engine's ceiling), and at a fixed rate. Rounds alternate the engines, and each figure is
the median of the rounds.
"""

from __future__ import annotations

import contextlib
import dataclasses
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil

from loadtests import engines, hosts
from loadtests.engines import node, websocket_ceilings
from loadtests.engines.node import GENERATOR
from loadtests.engines.websocket_ceilings import WebSocketCeiling, WebSocketFigures
from loadtests.observe.cores import pinned
from loadtests.workload import Feature, Load

RATE = 6000.0  # requests per second
CONNECTIONS = 10
COOL_DOWN_S = 0.5

NEEDED = {Feature.CLOSED_LOOP, Feature.FIXED_RATE}  # of an engine that is compared
# The objectives of openloop.
SEND_LAG_P99_MS = 5.0
CEILING_RATIO = 2.0

CORE_OF_ITS_OWN = 0.9  # share of its core that an engine takes at its ceiling, where it has one to itself


@dataclasses.dataclass(frozen=True)
class EngineFigures:
    """Medians of the rounds of one engine: rates per second, times in milliseconds, CPU as shares of one core.

    ``requests_per_cpu_s`` is the ceiling rate by the generator's CPU seconds: the ceiling on a core without contention.

    The times at the fixed rate are those that the engine knows (response times of openloop, service times of
    loadtest); the send lag is None where it knows none.
    """

    engine: str
    ceiling_rate: float
    ceiling_rounds: list[float]
    ceiling_cpu: float
    requests_per_cpu_s: float
    ceiling_server_cpu: float
    planned: float
    sent: float
    unfinished: float
    p50_ms: float | None
    p99_ms: float | None
    send_lag_p99_ms: float | None
    send_lag_p99_rounds: list[float]
    cpu: float


@dataclasses.dataclass(frozen=True)
class EnginesReport:
    """All figures, and their cores."""

    rate: float
    server_cores: tuple[int, ...]
    generator_core: int
    engines: list[EngineFigures]
    websocket: WebSocketFigures

    def engine(self, name: str) -> EngineFigures:
        """The figures of the engine of that name."""
        return next(one for one in self.engines if one.engine == name)

    @property
    def ceiling_ratio(self) -> float:
        """The ceiling of openloop over that of loadtest."""
        return self.engine("openloop").ceiling_rate / self.engine("loadtest").ceiling_rate

    def to_dict(self) -> dict[str, Any]:
        """The report as ``engines --json`` prints it."""
        return {**dataclasses.asdict(self), "ceiling_ratio": self.ceiling_ratio}


def measure(
    *,
    rounds: int = 3,
    rate: float = RATE,
    ceiling_s: float = 3.0,
    fixed_s: float = 5.0,
    connections: int = websocket_ceilings.CONNECTIONS,
    progress: Callable[[str, int, int], None] = lambda engine, done, total: None,
) -> EnginesReport:
    """Runs the benchmark: about two minutes. Raises EngineError where Node or its packages are missing.

    Each engine has, in each round, ``ceiling_s`` seconds as fast as it can and ``fixed_s`` at ``rate`` requests per
    second. Over WebSockets each load of openloop has ``ceiling_s``, one of them with ``connections``.
    ``progress(engine, done, total)`` is called before each part of a round.
    """
    cores = hosts.at("local").allot(None)
    core = cores.generator[0]
    names = [name for name, engine in engines.known().items() if engine.features >= NEEDED]
    figures: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    talks: list[dict[str, WebSocketCeiling]] = []
    total = rounds * (len(names) + 1)
    with _fast_server(cores.servers[0]) as (url, server):
        for number in range(rounds):
            for k, name in enumerate(names[:: -1 if number % 2 else 1]):
                progress(name, number * len(names) + k, total)
                ceiling = Load.of_url(url, connections=CONNECTIONS, duration_s=ceiling_s, core=core)
                fixed = Load.of_url(url, rate=rate, duration_s=fixed_s, core=core)
                figures[name].append({**_at_the_ceiling(name, ceiling, server), **_at_a_rate(name, fixed)})
    with _fast_server(cores.servers[0], "websocket") as (url, server):
        for number in range(rounds):
            progress("openloop, WebSockets", total - rounds + number, total)
            loads = websocket_ceilings.loads(url.rstrip("/"), core, ceiling_s, connections)
            talks.append({name: _websocket(load, server) for name, load in loads.items()})
    compared = [_median(name, rounds) for name, rounds in figures.items()]
    return EnginesReport(rate, cores.servers, core, compared, websocket_ceilings.figures(talks, connections))


def _websocket(load: Load, server: psutil.Process) -> WebSocketCeiling:
    time.sleep(COOL_DOWN_S)
    return websocket_ceilings.measure(load, server)


def _at_the_ceiling(name: str, load: Load, server: psutil.Process) -> dict[str, float]:
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


def _at_a_rate(name: str, load: Load) -> dict[str, float | None]:
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


def _median(name: str, rounds: list[dict[str, Any]]) -> EngineFigures:
    """The medians; None where a round has none."""
    by_field = {field: [figures[field] for figures in rounds] for field in rounds[0]}
    medians: dict[str, Any] = {
        field: None if None in values else statistics.median(values) for field, values in by_field.items()
    }
    return EngineFigures(
        engine=name,
        **medians,
        ceiling_rounds=by_field["ceiling_rate"],
        send_lag_p99_rounds=[lag for lag in by_field["send_lag_p99_ms"] if lag is not None],
    )


@contextlib.contextmanager
def _fast_server(core: int, protocol: str = "http") -> Iterator[tuple[str, psutil.Process]]:
    with pinned(core):
        process = subprocess.Popen(
            [node.require(), str(GENERATOR / "fastserver.js"), protocol],
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
