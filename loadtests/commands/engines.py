"""``engines``: the load generators compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from loadtests.commands.console import err, out, say_json, waiting
from loadtests.commands.options import AsJson
from loadtests.formatting import DASH
from loadtests.report.terminal_tables import grid, print_grid

if TYPE_CHECKING:
    from loadtests.engines.against import Measured
    from loadtests.engines.benchmark import EnginesReport
    from loadtests.engines.websocket_ceilings import WebSocketFigures


def command(
    against: Annotated[
        str | None, typer.Option(help="Compare openloop with generators of others on PATH: vegeta,k6,oha,h2load.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the load generators against a fast server.

    Shows the highest rate of each, and how exactly it sends 6,000 requests per second. With --against: what openloop
    and the named ones report of servers whose response times are known beforehand.
    """
    with waiting(err):
        import dataclasses

        from loadtests.commands.progress import steps
        from loadtests.engines import against as others
        from loadtests.engines import benchmark

    if against is not None:
        ways = others.chosen(against)
        with steps(err) as progress:
            found = others.measure(ways, progress)
        say_json([dataclasses.asdict(one) for one in found]) if as_json else print_against(found)
        return
    with steps(err) as progress:
        report = benchmark.measure(progress=progress)
    say_json(report.to_dict()) if as_json else print_engines(report)


def print_engines(report: EnginesReport) -> None:
    """Prints a column per engine, and openloop's figures next to its targets."""
    from loadtests.engines.benchmark import CEILING_RATIO, CONNECTIONS, CORE_OF_ITS_OWN, SEND_LAG_P99_MS

    title = f"Load generators on core {report.generator_core}, against a fast server on another"
    if report.generator_core in report.server_cores:
        title = f"Load generators and a fast server, all on core {report.generator_core}"
    names = [figures.engine for figures in report.engines]
    table = grid(("", *names), right=range(1, len(names) + 1))
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
        values = [getattr(figures, name) for figures in report.engines]
        table.add_row(label, *(DASH if value is None else format(value, form) for value in values))
    print_grid(out, table, title)
    lag = report.engine("openloop").send_lag_p99_ms
    out.print(
        f"openloop's ceiling is {report.ceiling_ratio:.1f} times loadtest's; {CEILING_RATIO:g} is asked for.\n"
        f"Its send lag p99 at {report.rate:,.0f} requests/s is {lag or 0:.2f} ms; "
        f"under {SEND_LAG_P99_MS:g} is asked for.\n"
        "p50 and p99: openloop from the intended send; loadtest, in whole milliseconds, from the actual send."
    )
    _print_websocket(report.websocket)
    if min(figures.ceiling_cpu for figures in report.engines) < CORE_OF_ITS_OWN:
        out.print("Something else ran on the generators' core: run this again on a quiet machine.")


def print_against(found: list[Measured]) -> None:
    """Prints a row per way to call a generator, below the truth."""
    from loadtests.engines.against import DELAY_MS, EVERY_S, FREEZE_S, RATE, TRUTH_MS

    columns = ("", "p50", "p99", "own p99", "p90", "p95", "p99", "dropped", "frozen server")
    table = grid(columns, right=range(1, 8), whole=(0,))
    table.add_row("truth", f"{DELAY_MS}", f"{DELAY_MS}", "", *(f"{truth:.0f}" for truth in TRUTH_MS.values()), "0", "")
    for one in found:
        own = DASH if one.own_p99_ms is None else f"{one.own_p99_ms:.1f}"
        delay = [f"{one.delay[p]:.1f}" for p in (50, 99)]
        freeze = [f"{one.freeze[p]:.0f}" for p in TRUTH_MS]
        table.add_row(one.label, *delay, own, *freeze, f"{one.dropped:,}", one.verdict)
    print_grid(out, table, f"Response times in ms that each reports at {RATE} requests/s, even arrivals")
    out.print(
        f"p50, p99 and own p99 (the generator's own delay): a server that answers after {DELAY_MS} ms. The others: one "
        f"that freezes for {FREEZE_S:g} s of every {EVERY_S:g} s."
    )


def _print_websocket(found: WebSocketFigures) -> None:
    """Prints a row per load over WebSockets, and openloop's figures next to its targets."""
    from loadtests.engines.websocket_ceilings import (
        CPU_AT_MOST,
        DELIVERIES_PER_S,
        ECHO_CONNECTIONS,
        OF_A_ROOM,
        PUBLISHERS,
        RECEIVERS,
    )

    table = grid(("", "messages/s", "CPU", "per CPU second", "lag p99, ms", "CPU of the server"), right=range(1, 6))
    rows = (
        (f"ceiling of echoes, {ECHO_CONNECTIONS} connections", found.echo),
        ("  with a mask of zeros, which costs nothing", found.echo_unmasked),
        (f"ceiling of deliveries, {PUBLISHERS} publishers, {RECEIVERS} receivers", found.broadcast),
        (f"{DELIVERIES_PER_S:,.0f} deliveries/s to {found.connections:,} in rooms of {OF_A_ROOM}", found.many),
    )
    for label, ceiling in rows:
        lag = DASH if ceiling.lag_p99_ms is None else f"{ceiling.lag_p99_ms:,.2f}"
        shares = f"{ceiling.cpu:.0%}", f"{ceiling.per_cpu_s:,.0f}", lag, f"{ceiling.server_cpu:.0%}"
        table.add_row(label, f"{ceiling.rate:,.0f}", *shares)
    out.print()
    print_grid(out, table, "openloop over WebSockets, messages of 64 bytes")
    out.print(
        f"{DELIVERIES_PER_S:,.0f} deliveries/s to {found.connections:,} connections are asked for, with at most "
        f"{CPU_AT_MOST:.0%} of the core: {found.many.rate:,.0f} with {found.many.cpu:.0%}, "
        f"{found.many.missing:,} missing."
    )
