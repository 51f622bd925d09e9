"""``load``: send load to a URL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from loadtests.commands.console import data, err, fail, out, say_json, waiting
from loadtests.commands.options import AllowRemote, AsJson, MessageSize
from loadtests.formatting import DASH, plural
from loadtests.report.terminal_tables import grid, print_grid

if TYPE_CHECKING:
    from loadtests.records import Figures, Result


def command(
    url: Annotated[str, typer.Argument(help="URL, such as http://127.0.0.1:8000/ or ws://...")],
    rate: Annotated[
        float | None, typer.Option(help="Requests per second. The default is as many as the server answers.")
    ] = None,
    arrivals: Annotated[
        str | None, typer.Option(help="Spacing of requests with --rate: even (the default) or random.")
    ] = None,
    connections: Annotated[
        int | None,
        typer.Option(
            help="Number of connections, 10 by default. With --rate over HTTP, the maximum number, 1,000 by default."
        ),
    ] = None,
    method: Annotated[str, typer.Option(help="HTTP method.")] = "GET",
    header: Annotated[list[str] | None, typer.Option(help="Header: 'Accept: text/html'; may be repeated.")] = None,
    body: Annotated[str | None, typer.Option(help="Body of the request, or @FILE.")] = None,
    size: MessageSize = None,
    workload: Annotated[Path | None, typer.Option(help="Workload file with the requests to send.")] = None,
    speed: Annotated[float | None, typer.Option(help="Replay a recorded workload at this speed: 1, 2 or 0.5.")] = None,
    duration: Annotated[str | None, typer.Option(help="Duration: 2m; by default 10s, or the whole replay.")] = None,
    timeout: Annotated[str, typer.Option(help="Time limit of a request.")] = "10s",
    engine: Annotated[str, typer.Option(help="Load generator: openloop or loadtest.")] = "openloop",
    processes: Annotated[int, typer.Option(help="Number of generator processes that share the rate.")] = 1,
    allow_remote: AllowRemote = False,
    as_json: AsJson = False,
) -> None:
    """Send load to a URL and print the results."""
    with waiting(err):
        from loadtests.commands.progress import seconds
        from loadtests.measure import url as urls

        requests = urls.UrlRequests(method.upper(), header or (), body, workload, speed)
        load = urls.UrlLoad(
            url, requests, rate, connections, duration, timeout, processes, allow_remote, arrivals, size
        ).load()
    with seconds(err, load.duration_s) as on_second:
        result = urls.send(engine, load, on_second)
    say_json(result.summary()) if as_json else _print(result)
    for remark in _remarks(result):
        err.print(Text(remark, "yellow"))
    if why := urls.nothing_ok(load, result):
        fail(why)


def _remarks(result: Result) -> Iterator[str]:
    """Yield the problems that a user should not overlook."""
    if left := max(0, result.planned - result.sent):
        yield f"{left:,} of {result.planned:,} planned requests were not sent, because no connection was free"
    if result.stray:
        yield f"{plural(result.stray, 'message')} reached the wrong connections"


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
    for name, count in _websocket_counts(result):
        counts.add_row(name, DASH if count is None else f"{count:,}")
    print_grid(out, counts)
    times = grid(("ms", *FIGURES), right=range(1, len(FIGURES) + 1))
    times.add_row("response time", *_figures(result.response_time_ms, FIGURES))
    times.add_row("service time", *_figures(result.service_time_ms, FIGURES))
    times.add_row("send lag", *_figures(result.send_lag_ms, FIGURES))
    if result.connections:
        times.add_row("opening", *_figures(result.connections.opening_ms, FIGURES))
    out.print()
    print_grid(out, times)
    if result.requests:
        out.print()
        _print_requests(result, FIGURES)


def _websocket_counts(result: Result) -> Iterator[tuple[str, int | None]]:
    """Yield the counts of deliveries and of connections that stay open, if the load contains any."""
    if found := result.deliveries:
        for what in ("missing", "duplicate", "reordered", "stray"):
            yield f"deliveries {what}", getattr(found, what)
    if connections := result.connections:
        for what in ("opened", "refused", "lost"):
            yield f"connections {what}", getattr(connections, what)


def _print_requests(result: Result, columns: Sequence[str]) -> None:
    table = grid(("request", "sent", "failed", *columns), right=range(1, len(columns) + 3))
    for row in result.requests:
        failed = row.planned - row.ok
        counts = (f"{row.sent:,}", Text(f"{failed:,}", style="red" if failed else ""))
        table.add_row(Text(row.name), *counts, *_figures(row.response_time_ms, columns))
    print_grid(out, table, "response time by request, ms")


def _figures(times: Figures, columns: Sequence[str]) -> list[str]:
    return [DASH if (value := times[column]) is None else f"{value:,.2f}" for column in columns]
