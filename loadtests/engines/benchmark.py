"""The engines compared: ``python -m loadtests engines``.

Both load the same fast server, which has a core of its own, from the same other core: as fast as ten kept-alive
connections are answered (the engine's ceiling), and at 6,000 requests per second. Rounds alternate the engines, and
each figure is the median of the rounds.
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
from rich.console import Console
from rich.table import Table

from loadtests.engines import ENGINES, Load, node
from loadtests.engines.node import GENERATOR, pinned
from loadtests.observe import cores

ROUNDS = 3
RATE = 6000.0
CEILING_S = 3.0
FIXED_S = 5.0
CONNECTIONS = 10
COOL_DOWN_S = 0.5

# What openloop is held to.
SEND_LAG_P99_MS = 5.0
CEILING_RATIO = 2.0

CORE_OF_ITS_OWN = 0.9  # share of its core that an engine takes at its ceiling, where it has one to itself


@dataclasses.dataclass(frozen=True)
class Measured:
    """One engine: medians of the rounds. Rates are per second, times milliseconds, CPU shares of one core.

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
    planned: int
    sent: int
    unfinished: int
    p50_ms: float | None
    p99_ms: float | None
    send_lag_p99_ms: float | None
    send_lag_p99_rounds: list[float]
    cpu: float


@dataclasses.dataclass(frozen=True)
class Report:
    """What was measured, and where."""

    rate: float
    server_cores: tuple[int, ...]
    generator_core: int
    engines: list[Measured]

    @property
    def ceiling_ratio(self) -> float:
        """The ceiling of openloop over that of loadtest."""
        ceilings = {measured.engine: measured.ceiling_rate for measured in self.engines}
        return ceilings["openloop"] / ceilings["loadtest"]


def measure(progress: Callable[[str, int, int], None] = lambda engine, done, total: None) -> Report:
    """Runs the benchmark: about a minute. Raises EngineError where Node or its packages are missing.

    ``progress(engine, done, total)`` is called before each engine's turn.
    """
    places = cores.allot()
    core = places.generator[0]
    rounds: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {name: [] for name in ENGINES}
    with _fast_server(places.servers[0]) as (url, server):
        ceiling = Load.of_url(url, connections=CONNECTIONS, duration_s=CEILING_S, core=core)
        fixed = Load.of_url(url, rate=RATE, duration_s=FIXED_S, core=core)
        for number in range(ROUNDS):
            for turn, name in enumerate(list(ENGINES)[:: -1 if number % 2 else 1]):
                progress(name, number * len(ENGINES) + turn, ROUNDS * len(ENGINES))
                rounds[name].append((_run(name, ceiling, server), _run(name, fixed, server)))
    return Report(RATE, places.servers, core, [_median(name, rows) for name, rows in rounds.items()])


def _run(name: str, load: Load, server: psutil.Process) -> dict[str, Any]:
    time.sleep(COOL_DOWN_S)
    before = sum(server.cpu_times()[:2])
    result = ENGINES[name].run(load)
    [generator] = result.generator
    return {
        "rate": result.rate,
        "planned": result.planned,
        "sent": result.sent,
        "unfinished": result.unfinished,
        "p50_ms": result.latency_ms["p50"],
        "p99_ms": result.latency_ms["p99"],
        "send_lag_p99_ms": result.send_lag_ms["p99"],
        "cpu": generator["cpu_s"] / generator["wall_s"],
        "requests_per_cpu_s": result.ok / generator["cpu_s"],
        "server_cpu": (sum(server.cpu_times()[:2]) - before) / generator["wall_s"],
    }


def _median(name: str, rounds: list[tuple[dict[str, Any], dict[str, Any]]]) -> Measured:
    ceilings, fixed = [row[0] for row in rounds], [row[1] for row in rounds]

    def median(rows: list[dict[str, Any]], key: str) -> Any:
        values = [row[key] for row in rows]
        return None if None in values else statistics.median(values)

    return Measured(
        engine=name,
        ceiling_rate=median(ceilings, "rate"),
        ceiling_rounds=[row["rate"] for row in ceilings],
        ceiling_cpu=median(ceilings, "cpu"),
        requests_per_cpu_s=median(ceilings, "requests_per_cpu_s"),
        ceiling_server_cpu=median(ceilings, "server_cpu"),
        planned=median(fixed, "planned"),
        sent=median(fixed, "sent"),
        unfinished=median(fixed, "unfinished"),
        p50_ms=median(fixed, "p50_ms"),
        p99_ms=median(fixed, "p99_ms"),
        send_lag_p99_ms=median(fixed, "send_lag_p99_ms"),
        send_lag_p99_rounds=[row["send_lag_p99_ms"] for row in fixed if row["send_lag_p99_ms"] is not None],
        cpu=median(fixed, "cpu"),
    )


@contextlib.contextmanager
def _fast_server(core: int) -> Iterator[tuple[str, psutil.Process]]:
    with pinned(core):
        process = subprocess.Popen(
            [node.require(), str(GENERATOR / "fastserver.js")],
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


def to_json(report: Report) -> dict[str, Any]:
    """The report as ``engines --json`` prints it."""
    return {**dataclasses.asdict(report), "ceiling_ratio": report.ceiling_ratio}


def print_table(report: Report, console: Console) -> None:
    """Prints the report."""
    table = Table(title=f"Load generators on core {report.generator_core}, against a fast server on another")
    if report.generator_core in report.server_cores:
        table.title = f"Load generators and a fast server, all on core {report.generator_core}"
    for heading in ("", *(measured.engine for measured in report.engines)):
        table.add_column(heading, justify="right" if heading else "left")
    rows = (
        (f"ceiling, {CONNECTIONS} connections, requests/s", "ceiling_rate", ",.0f"),
        ("  CPU of the generator", "ceiling_cpu", ".0%"),
        ("  requests per CPU second", "requests_per_cpu_s", ",.0f"),
        ("  CPU of the server", "ceiling_server_cpu", ".0%"),
        (f"at {report.rate:,.0f} requests/s: planned", "planned", ",.0f"),
        ("  sent", "sent", ",.0f"),
        ("  unfinished", "unfinished", ",.0f"),
        ("  p50, ms", "p50_ms", ".2f"),
        ("  p99, ms", "p99_ms", ".2f"),
        ("  send lag p99, ms", "send_lag_p99_ms", ".2f"),
        ("  CPU of the generator", "cpu", ".0%"),
    )
    for label, name, form in rows:
        values = [getattr(measured, name) for measured in report.engines]
        table.add_row(label, *("–" if value is None else format(value, form) for value in values))
    console.print(table)
    lag = next(measured.send_lag_p99_ms for measured in report.engines if measured.engine == "openloop")
    console.print(
        f"openloop's ceiling is {report.ceiling_ratio:.1f} times loadtest's; {CEILING_RATIO:g} is asked for.\n"
        f"Its send lag p99 at {report.rate:,.0f} requests/s is {lag or 0:.2f} ms; "
        f"under {SEND_LAG_P99_MS:g} is asked for.\n"
        "p50 and p99: openloop from the intended send; loadtest, in whole milliseconds, from the actual send."
    )
    if min(measured.ceiling_cpu for measured in report.engines) < CORE_OF_ITS_OWN:
        console.print("Something else ran on the generators' core: run this again on a quiet machine.")
