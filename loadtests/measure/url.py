"""Load on a URL, by hand: ``python -m loadtests load URL``."""

from __future__ import annotations

import dataclasses
import ipaddress
import socket
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from loadtests import engines
from loadtests.engines import Load, Result
from loadtests.engines.base import OnSecond, ShouldStop
from loadtests.errors import UserError
from loadtests.measure import capacity as find
from loadtests.observe import cores
from loadtests.plan import objective as objectives
from loadtests.plan.objective import Objective
from loadtests.plan.study import duration
from loadtests.searches import capacity
from loadtests.searches.capacity import Plan
from loadtests.serve.http import calm_down
from loadtests.store.result import FIGURES, Figures
from loadtests.workload import Request, Workload, tables
from loadtests.workload.load import split

CLOSED_LOOP_CONNECTIONS = 10
DURATION_S = 10.0


@dataclasses.dataclass(frozen=True)
class Asked:
    """What the command line says of the requests: one on the URL, or a workload file, to be replayed where it has a
    speed."""

    method: str = "GET"
    headers: Sequence[str] = ()
    body: str | None = None
    workload: Path | None = None
    speed: float | None = None


def parse(
    url: str,
    asked: Asked,
    rate: float | None,
    connections: int | None,
    duration_text: str | None,
    timeout_text: str,
    processes: int,
    allow_remote: bool,
) -> Load:
    """The load that a person asked for. Raises UserError for what makes no sense."""
    require_local(url, allow_remote)
    origin, workload = _workload(url, asked)
    duration_s = duration(duration_text) if duration_text else DURATION_S
    recorded: tuple[tuple[float, int], ...] = ()
    if asked.speed is not None:
        if rate is not None:
            raise UserError("--speed replays what was recorded at its own pace; it does not go with --rate")
        replay = workload.replay(asked.speed)
        duration_s = min(duration_s, replay.duration_s) if duration_text else replay.duration_s
        rate, recorded = replay.rate, replay.until(duration_s)
    if rate is None and connections is None:
        connections = CLOSED_LOOP_CONNECTIONS
    return Load(
        origin=origin,
        requests=workload.requests,
        recorded=recorded,
        rate=rate,
        connections=connections,
        duration_s=duration_s,
        timeout_s=duration(timeout_text),
        processes=processes,
        core=cores.allot().generator[0] if processes == 1 else None,
    )


def _workload(url: str, asked: Asked) -> tuple[str, Workload]:
    """The origin and what it is asked. Raises UserError."""
    origin, path = split(url)
    if asked.workload is None:
        if asked.speed is not None:
            raise UserError("--speed replays a recorded workload; name its file with --workload")
        return origin, Workload((_request(path, asked),))
    if (asked.method, tuple(asked.headers), asked.body) != ("GET", (), None):
        raise UserError("--workload names the requests; --method, --header and --body do not go with it")
    if path != "/":
        raise UserError(f"--workload names the paths; write the URL without one: {origin}")
    return origin, tables.read(asked.workload)


def _request(path: str, asked: Asked) -> Request:
    headers = []
    for header in asked.headers:
        name, colon, value = header.partition(":")
        if not colon:
            raise UserError(f"--header {header!r}: write a name, a colon and a value: 'Accept: text/html'")
        headers.append((name.strip(), value.strip()))
    body = None if asked.body is None else _body(asked.body)
    try:
        return Request(f"{asked.method} {path}", asked.method, path, tuple(headers), body)
    except UserError as error:
        raise UserError(f"--{error}".replace("--headers:", "--header:", 1)) from None


def _body(text: str) -> bytes:
    """The text, or with ``@`` before it the contents of the file of that name."""
    if not text.startswith("@"):
        return text.encode()
    try:
        return Path(text[1:]).read_bytes()
    except OSError as error:
        raise UserError(f"--body {text}: {text[1:]} cannot be read: {error.strerror}") from None


def require_local(url: str, allow_remote: bool) -> None:
    """Raises UserError for a URL that is none, and for a host other than this machine unless that is allowed."""
    try:
        parts = urllib.parse.urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError as error:
        raise UserError(f"{url!r} is not a URL: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise UserError(f"{url!r} is not a URL that load can be sent to; write http://127.0.0.1:8000/")
    if not allow_remote and not _is_loopback(host):
        raise UserError(
            f"{host} is not this machine; load on another needs its owner's consent: say so with --allow-remote"
        )


def send(engine: str, load: Load, console: Console) -> Result:
    """Sends the load, with progress on ``console`` where it is a terminal. Raises UserError."""
    chosen = engines.get(engine)
    if not console.is_terminal:
        return chosen.run(load)
    with Progress(
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:3.0f}%"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task("", total=load.duration_s)

        def on_second(row: dict[str, Any]) -> None:
            progress.update(task, advance=1, description=f"{row['completed']:,} requests/s")

        return chosen.run(load, on_second)


@dataclasses.dataclass(frozen=True)
class Search:
    """A search for a capacity, as a person asked for it."""

    load: Load
    objective: Objective
    plan: Plan


def search(
    url: str, objective: str, start_rate: float, max_rate: float, probe: str, confirm: str, allow_remote: bool
) -> Search:
    """The search that a person asked for. Raises UserError for what makes no sense."""
    require_local(url, allow_remote)
    plan = Plan(start_rate=start_rate, max_rate=max_rate, short_s=duration(probe), long_s=duration(confirm))
    try:
        wanted = objectives.parse(objective)
        capacity.check(plan)
    except ValueError as error:
        raise UserError(str(error)) from None
    find.require_known(wanted)
    return Search(Load.of_url(url, rate=start_rate, core=cores.allot().generator[0]), wanted, plan)


def find_capacity(wanted: Search, console: Console) -> find.Found:
    """Finds the capacity, with a line for each probe on ``console``. Raises UserError."""

    def on_probe(probed: find.Probed) -> None:
        judgement = probed.judgement
        console.print(
            f"{probed.probe.rate:>9,.0f} requests/s for {probed.probe.duration_s:g} s: "
            f"{judgement.outcome.value} ({judgement.why})",
            soft_wrap=True,
        )

    engine = engines.get("openloop")
    engine.require()
    parts = urllib.parse.urlsplit(wanted.load.origin)
    [request] = wanted.load.requests
    port = parts.port or (443 if parts.scheme == "https" else 80)

    def run_load(load: Load, on_second: OnSecond, should_stop: ShouldStop) -> Result:
        # What one probe left behind is not the next one's to bear. A URL that never answers so quickly is probed as is.
        if parts.scheme == "http":
            calm_down(str(parts.hostname), port, request)
        return engine.run(load, on_second, should_stop)

    return find.find(wanted.load, wanted.objective, wanted.plan, run_load, lambda row: None, on_probe)


def print_capacity(found: find.Found, console: Console) -> None:
    """The result in a sentence."""
    console.print(f"{found.capacity.sentence} ({found.objective})", soft_wrap=True)


def print_result(result: Result, console: Console) -> None:
    """The result as two tables: what became of the requests, and the times."""
    found = result.summary()
    counts = Table(box=None, pad_edge=False, show_header=False)
    for key in ("planned", "sent", "completed", "ok", "unfinished"):
        counts.add_row(key, f"{found[key]:,}")
    for kind, number in found["errors"].items():
        counts.add_row(f"error: {kind}", f"[red]{number:,}[/]")
    counts.add_row("requests/s", f"{found['rate']:,.1f}")
    console.print(counts)
    times = Table(box=None, pad_edge=False)
    times.add_column("ms")
    for column in FIGURES:
        times.add_column(column, justify="right")
    for key in ("response_time_ms", "service_time_ms", "send_lag_ms"):
        times.add_row(key.removesuffix("_ms").replace("_", " "), *_figures(found[key]))
    console.print(times)
    if result.requests:
        console.print(_by_request(result))


def _by_request(result: Result) -> Table:
    table = Table(box=None, pad_edge=False, title_justify="left", title="\nresponse time by request, ms")
    table.add_column("request", overflow="fold")
    for column in ("sent", "failed", *FIGURES):
        table.add_column(column, justify="right")
    for row in result.requests:
        failed = row["planned"] - row["ok"]
        counts = (f"{row['sent']:,}", f"[red]{failed:,}[/]" if failed else "0")
        table.add_row(escape(row["name"]), *counts, *_figures(row["response_time_ms"]))
    return table


def _figures(times: Figures) -> list[str]:
    return ["-" if (value := times[name]) is None else f"{value:,.2f}" for name in FIGURES]


def _is_loopback(host: str) -> bool:
    try:
        addresses = {info[4][0] for info in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError) as error:
        raise UserError(f"{host}: {getattr(error, 'strerror', None) or error}") from None
    return all(ipaddress.ip_address(str(address)).is_loopback for address in addresses)
