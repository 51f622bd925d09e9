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
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import psutil

from loadtests import engines, hosts
from loadtests.engines import node, websocket_ceilings
from loadtests.engines.node import GENERATOR
from loadtests.engines.websocket_ceilings import WebSocketFigures, WebSocketTurn
from loadtests.observe.cores import pinned
from loadtests.workload import Feature, Load

RATE = 6000.0  # requests per second
CONNECTIONS = 10
COOL_DOWN_S = 0.5

NEEDED = {Feature.CLOSED_LOOP, Feature.FIXED_RATE}  # of an engine that is compared
# What openloop is held to.
SEND_LAG_P99_MS = 5.0
CEILING_RATIO = 2.0

CORE_OF_ITS_OWN = 0.9  # share of its core that an engine takes at its ceiling, where it has one to itself


@dataclasses.dataclass(frozen=True)
class Turn:
    """One load of one engine. Rates are per second, times milliseconds (None where the engine does not know them), CPU
    shares of one core; ``requests_per_cpu_s`` is by the generator's CPU seconds."""

    rate: float
    planned: int
    sent: int
    unfinished: int
    p50_ms: float | None
    p99_ms: float | None
    send_lag_p99_ms: float | None
    cpu: float
    requests_per_cpu_s: float
    server_cpu: float


@dataclasses.dataclass(frozen=True)
class EngineFigures:
    """One engine: medians of the rounds, in the units of Turn.

    ``requests_per_cpu_s`` is the ceiling rate by the generator's CPU seconds: what the ceiling would be on a core of
    which nothing else takes a part.

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
    """What was measured, and where."""

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
    held: int = websocket_ceilings.HELD,
    progress: Callable[[str, int, int], None] = lambda engine, done, total: None,
) -> EnginesReport:
    """Runs the benchmark: about two minutes. Raises EngineError where Node or its packages are missing.

    Each engine has, in each round, ``ceiling_s`` seconds as fast as it can and ``fixed_s`` at ``rate`` requests per
    second. Over WebSockets each load of openloop has ``ceiling_s``, one of them on ``held``
    connections. ``progress(engine, done, total)`` is called before each
    engine's turn.
    """
    places = hosts.at("local").allot(None)
    core = places.generator[0]
    names = [name for name, engine in engines.known().items() if engine.features >= NEEDED]
    ceilings: dict[str, list[Turn]] = {name: [] for name in names}
    fixed: dict[str, list[Turn]] = {name: [] for name in names}
    talks: list[dict[str, WebSocketTurn]] = []
    total = rounds * (len(names) + 1)
    with _fast_server(places.servers[0]) as (url, server):
        for number in range(rounds):
            for turn, name in enumerate(names[:: -1 if number % 2 else 1]):
                progress(name, number * len(names) + turn, total)
                ceiling = Load.of_url(url, connections=CONNECTIONS, duration_s=ceiling_s, core=core)
                ceilings[name].append(_turn(name, ceiling, server))
                fixed[name].append(_turn(name, Load.of_url(url, rate=rate, duration_s=fixed_s, core=core), server))
    with _fast_server(places.servers[0], "websocket") as (url, server):
        for number in range(rounds):
            progress("openloop, WebSockets", total - rounds + number, total)
            loads = websocket_ceilings.loads(url.rstrip("/"), core, ceiling_s, held)
            talks.append({name: _talk(load, server) for name, load in loads.items()})
    compared = [_figures(name, ceilings[name], fixed[name]) for name in names]
    return EnginesReport(rate, places.servers, core, compared, websocket_ceilings.figures(talks, held))


def _talk(load: Load, server: psutil.Process) -> WebSocketTurn:
    time.sleep(COOL_DOWN_S)
    return websocket_ceilings.turn(load, server)


def _turn(name: str, load: Load, server: psutil.Process) -> Turn:
    time.sleep(COOL_DOWN_S)
    before = sum(server.cpu_times()[:2])
    result = engines.get(name).run(load)
    [generator] = result.generator
    return Turn(
        rate=result.rate,
        planned=result.planned,
        sent=result.sent,
        unfinished=result.unfinished,
        p50_ms=result.latency_ms["p50"],
        p99_ms=result.latency_ms["p99"],
        send_lag_p99_ms=result.send_lag_ms["p99"],
        cpu=generator.cpu_s / generator.wall_s,
        requests_per_cpu_s=result.ok / generator.cpu_s,
        server_cpu=(sum(server.cpu_times()[:2]) - before) / generator.wall_s,
    )


def _figures(name: str, ceilings: Sequence[Turn], fixed: Sequence[Turn]) -> EngineFigures:
    return EngineFigures(
        engine=name,
        ceiling_rate=statistics.median(turn.rate for turn in ceilings),
        ceiling_rounds=[turn.rate for turn in ceilings],
        ceiling_cpu=statistics.median(turn.cpu for turn in ceilings),
        requests_per_cpu_s=statistics.median(turn.requests_per_cpu_s for turn in ceilings),
        ceiling_server_cpu=statistics.median(turn.server_cpu for turn in ceilings),
        planned=statistics.median(turn.planned for turn in fixed),
        sent=statistics.median(turn.sent for turn in fixed),
        unfinished=statistics.median(turn.unfinished for turn in fixed),
        p50_ms=_median_of_known(turn.p50_ms for turn in fixed),
        p99_ms=_median_of_known(turn.p99_ms for turn in fixed),
        send_lag_p99_ms=_median_of_known(turn.send_lag_p99_ms for turn in fixed),
        send_lag_p99_rounds=[turn.send_lag_p99_ms for turn in fixed if turn.send_lag_p99_ms is not None],
        cpu=statistics.median(turn.cpu for turn in fixed),
    )


def _median_of_known(values: Iterable[float | None]) -> float | None:
    """The median; None where one of them is not known."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return statistics.median(known) if len(known) == len(listed) else None


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
