"""``origin``: a slow or failing origin, until Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loadtests.commands.console import err, fail, out, say, say_json, waiting
from loadtests.commands.options import AsJson
from loadtests.errors import UserError
from loadtests.report.terminal_tables import grid, print_grid

if TYPE_CHECKING:
    from loadtests.measure.origin_accuracy import OriginAccuracy


def command(
    recipe: Annotated[
        str | None,
        typer.Argument(help="Recipe file, or one of fast, flaky, relapse, slow, stumble."),
    ] = None,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 for a free one.")] = 8100,
    url_file: Annotated[
        Path | None, typer.Option(help="File to write the URL to; removed when the origin stops.")
    ] = None,
    benchmark: Annotated[
        bool,
        typer.Option(
            "--benchmark", help="Instead, measure how exactly it keeps its delays at 2,000 requests per second."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a test upstream (origin) that is slow or fails, until Ctrl-C.

    A recipe says how slow it is and when it fails.
    """
    if benchmark:
        if recipe is not None:
            raise UserError("--benchmark plays a recipe of its own; leave yours out")
        _benchmark(as_json)
        return
    if as_json:
        raise UserError("--json goes with --benchmark")
    with waiting(err):
        from loadtests.services.origin import listening, recipes

        played = recipes.load(recipe) if recipe is not None else ()
    listening.serve(played, port, url_file, say)


def _benchmark(as_json: bool) -> None:
    with waiting(err) as announce:
        from loadtests.measure import origin_accuracy

        found = origin_accuracy.measure(announce)
    say_json(found.to_dict()) if as_json else print_accuracy(found)
    if not found.in_time:
        fail("the origin was not in time, or something was not answered; run this again on a quiet machine")


def print_accuracy(found: OriginAccuracy) -> None:
    """Prints what was asked of the origin, what it did, and what that took."""
    from loadtests.measure.origin_accuracy import MOST_P99_MS

    table = grid(("", ""), right=(1,))
    for label, value in (
        ("requests/s asked for", f"{found.rate:,.0f}"),
        ("latency, s", f"{found.latency_s:g}"),
        ("sent", f"{found.sent:,}"),
        ("answered well", f"{found.ok:,}"),
        ("most in flight at a time", f"{found.most_in_flight:,}"),
        ("connections", f"{found.connections:,}"),
        ("scheduling delay of the origin, ms: p50", f"{found.late_p50_ms:.1f}"),
        ("  p99", f"{found.late_p99_ms:.1f}"),
        ("  longest", f"{found.late_max_ms:.1f}"),
        ("delay observed by the client, ms: p50", f"{found.seen_p50_ms:.1f}"),
        ("  p99", f"{found.seen_p99_ms:.1f}"),
        ("scheduling delay of the client, ms: p99", f"{found.send_lag_p99_ms:.1f}"),
        ("CPU of the origin", f"{found.cpu:.0%}"),
        ("CPU of the client", f"{found.client_cpu:.0%}"),
    ):
        table.add_row(label, value)
    where = f"core {found.core}" + (", which it shared with the client" if found.core == found.client_core else "")
    print_grid(out, table, f"An origin on {where}")
    delay = f"{found.late_p99_ms:.1f} ms, and {found.seen_p99_ms:.1f} ms observed by the client"
    out.print(f"Its scheduling delay p99 is {delay}; the target is under {MOST_P99_MS:g}.")
