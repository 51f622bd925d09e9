"""``load``: load on a URL, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from loadtests.commands.console import err, fail, out, say_json
from loadtests.commands.options import AllowRemote, AsJson

if TYPE_CHECKING:
    from loadtests.records import Figures, Result


def command(
    url: Annotated[str, typer.Argument(help="Where to send requests, such as http://127.0.0.1:8000/")],
    rate: Annotated[
        float | None, typer.Option(help="Requests per second; without it, as many as are answered.")
    ] = None,
    connections: Annotated[int | None, typer.Option(help="How many connections; 10 where no rate is given.")] = None,
    method: Annotated[str, typer.Option(help="The method.")] = "GET",
    header: Annotated[list[str] | None, typer.Option(help="A header, 'Accept: text/html'; may be repeated.")] = None,
    body: Annotated[str | None, typer.Option(help="The body, or with @ the file that holds it.")] = None,
    workload: Annotated[Path | None, typer.Option(help="A workload file: what to ask instead, and how often.")] = None,
    speed: Annotated[
        float | None, typer.Option(help="Replay a recorded workload, this many times as fast: 1, 2, 0.5.")
    ] = None,
    duration: Annotated[str | None, typer.Option(help="For how long: 2m; by default 10s, or the whole replay.")] = None,
    timeout: Annotated[str, typer.Option(help="How long a request may take.")] = "10s",
    engine: Annotated[str, typer.Option(help="openloop or loadtest.")] = "openloop",
    processes: Annotated[int, typer.Option(help="Generator processes that share the rate.")] = 1,
    allow_remote: AllowRemote = False,
    as_json: AsJson = False,
) -> None:
    """Send load to a URL and print what came back."""
    from loadtests.commands.progress import seconds
    from loadtests.measure import url as urls

    asked = urls.Asked(method.upper(), header or (), body, workload, speed)
    load = urls.parse(url, asked, rate, connections, duration, timeout, processes, allow_remote)
    with seconds(err, load.duration_s) as on_second:
        result = urls.send(engine, load, on_second)
    say_json(result.summary()) if as_json else _print(result)
    if why := urls.nothing_ok(load, result):
        fail(why)


def _print(result: Result) -> None:
    """The result as two tables: what became of the requests, and the times; for a mix, a third by request."""
    from loadtests.records.result import FIGURES

    counts = Table(box=None, pad_edge=False, show_header=False)
    for what in ("planned", "sent", "completed", "ok", "unfinished"):
        counts.add_row(what, f"{getattr(result, what):,}")
    for kind, number in result.errors.items():
        example = result.examples.get(kind)
        counts.add_row(f"error: {kind}" + (f" (first: {escape(example)})" if example else ""), f"[red]{number:,}[/]")
    counts.add_row("requests/s", f"{result.rate:,.1f}")
    out.print(counts)
    times = Table(box=None, pad_edge=False)
    times.add_column("ms")
    for column in FIGURES:
        times.add_column(column, justify="right")
    times.add_row("response time", *_figures(result.response_time_ms, FIGURES))
    times.add_row("service time", *_figures(result.service_time_ms, FIGURES))
    times.add_row("send lag", *_figures(result.send_lag_ms, FIGURES))
    out.print(times)
    if result.requests:
        out.print(_by_request(result, FIGURES))


def _by_request(result: Result, columns: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, title_justify="left", title="\nresponse time by request, ms")
    table.add_column("request", overflow="fold")
    for column in ("sent", "failed", *columns):
        table.add_column(column, justify="right")
    for row in result.requests:
        failed = row.planned - row.ok
        counts = (f"{row.sent:,}", f"[red]{failed:,}[/]" if failed else "0")
        table.add_row(escape(row.name), *counts, *_figures(row.response_time_ms, columns))
    return table


def _figures(times: Figures, columns: Sequence[str]) -> list[str]:
    return ["-" if (value := times[column]) is None else f"{value:,.2f}" for column in columns]
