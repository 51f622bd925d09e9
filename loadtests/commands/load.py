"""``load``: send load to a URL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from loadtests.commands.console import data, err, fail, out, say_json, waiting, warn
from loadtests.commands.options import AllowRemote, AsJson, Url, with_requests
from loadtests.formatting import DASH
from loadtests.report.terminal_tables import grid, print_grid

if TYPE_CHECKING:
    from loadtests.records import Figures, Result


@with_requests
def command(
    url: Url,
    rate: Annotated[
        float | None, typer.Option(help="Requests per second. The default is as many as the server answers.")
    ] = None,
    duration: Annotated[str, typer.Option(help="Duration, such as 2m.")] = "10s",
    timeout: Annotated[str, typer.Option(help="Time limit of a request.")] = "10s",
    engine: Annotated[str, typer.Option(help="Load generator: openloop or loadtest.")] = "openloop",
    processes: Annotated[int, typer.Option(help="Number of generator processes that share the rate.")] = 1,
    allow_remote: AllowRemote = False,
    as_json: AsJson = False,
    *,
    requests: dict[str, Any] | None,
) -> None:
    """Send load to a URL and print the results."""
    with waiting(err):
        from loadtests import engines
        from loadtests.commands.progress import seconds
        from loadtests.engines.base import Watch
        from loadtests.measure import url as urls
        from loadtests.records import decode

        options = urls.UrlOptions(url, allow_remote=allow_remote, **(requests or {}))
        load = urls.fixed_or_closed(options, rate, decode.duration(duration), timeout, processes)
    with seconds(err, load.duration_s) as on_second:
        result = engines.get(engine).run(load, Watch(on_second))
    say_json(result.summary()) if as_json else _print(result)
    if left := max(0, result.planned - result.sent):
        warn(f"{left:,} of {result.planned:,} planned requests were not sent, because no connection was free")
    if why := urls.nothing_ok(load, result):
        fail(why)


def _print(result: Result) -> None:
    """Print the counts and the times. For a mix, also print the times by request."""
    from loadtests.records.result import FIGURES

    counts = grid(("", ""), right=(1,))
    for what in ("planned", "sent", "completed", "ok", "unfinished"):
        counts.add_row(what, f"{getattr(result, what):,}")
    for kind, number in result.errors.items():
        example = result.examples.get(kind)
        name = f"error: {kind}" + (f" (first: {example})" if example else "")
        counts.add_row(data(name), data(f"{number:,}", "red"))
    counts.add_row("requests/s", f"{result.rate:,.1f}")
    print_grid(out, counts)
    times = grid(("ms", *FIGURES), right=range(1, len(FIGURES) + 1))
    times.add_row("response time", *_figures(result.response_time_ms, FIGURES))
    times.add_row("service time", *_figures(result.service_time_ms, FIGURES))
    times.add_row("send lag", *_figures(result.send_lag_ms, FIGURES))
    out.print()
    print_grid(out, times)
    if result.requests:
        out.print()
        _print_requests(result, FIGURES)


def _print_requests(result: Result, columns: Sequence[str]) -> None:
    table = grid(("request", "sent", "failed", *columns), right=range(1, len(columns) + 3))
    for row in result.requests:
        failed = row.planned - row.ok
        counts = (f"{row.sent:,}", Text(f"{failed:,}", style="red" if failed else ""))
        table.add_row(Text(row.name), *counts, *_figures(row.response_time_ms, columns))
    print_grid(out, table, "response time by request, ms")


def _figures(times: Figures, columns: Sequence[str]) -> list[str]:
    return [DASH if (value := times[column]) is None else f"{value:,.2f}" for column in columns]
