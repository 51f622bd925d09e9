"""Load on a URL, and the search for its capacity: what a person asks for, checked, and carried out."""

from __future__ import annotations

import base64
import dataclasses
import http.client
import urllib.parse
from collections.abc import Callable, Sequence
from pathlib import Path

from loadtests import engines, files, hosts
from loadtests.engines.base import OnSecond, ShouldStop
from loadtests.errors import UserError, quoted
from loadtests.formatting import series
from loadtests.measure import capacity
from loadtests.measure.capacity import FoundCapacity, Probed
from loadtests.measure.remote_guard import require_local
from loadtests.measure.websocket_url import echoes
from loadtests.plan import objective as objectives
from loadtests.plan.kinds.echo_throughput import CONNECTIONS_HELD
from loadtests.plan.objective import OF_ECHOES, OF_REQUESTS, Objective, SearchPlan
from loadtests.records import Result
from loadtests.records.toml import duration
from loadtests.serve import health
from loadtests.serve.http import ask
from loadtests.workload import Load, Request, Workload, from_toml
from loadtests.workload.load import ARRIVALS, split
from loadtests.workload.request import MOST_BODY_BYTES

CLOSED_LOOP_CONNECTIONS = 10
DURATION_S = 10.0
ARRIVAL_SEED = 2016  # fixed, so that two URLs can be sent the same
OPTIONS = {"method": "--method", "headers": "--header", "path": "the path of the URL"}  # what says a request's fields


# Errors that a lower rate does not mend, where nothing else was seen: a rate too high shows in time-outs.
SAID_NO = {"status", "refused", "wrong-body", "other"}


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
    arrivals: str | None = None,
    size: int | None = None,
) -> Load:
    """The load that a person asked for. Raises UserError for what makes no sense."""
    url, talk = echoes(url, size)
    require_local(url, allow_remote)
    if talk and (asked.method, asked.body, asked.workload) != ("GET", None, None):
        raise UserError("over ws:// messages are sent; --method, --body and --workload do not go with it")
    if arrivals is not None and (rate is None or asked.speed is not None):
        raise UserError("--arrivals says when the requests of a rate are due; it goes with --rate")
    origin, workload = _workload(*_login(url), asked)
    duration_s = DURATION_S if duration_text is None else duration(duration_text)
    recorded: tuple[tuple[float, int], ...] = ()
    if asked.speed is not None:
        if rate is not None:
            raise UserError("--speed replays what was recorded at its own pace; it does not go with --rate")
        replay = workload.replay(asked.speed)
        duration_s = replay.duration_s if duration_text is None else min(duration_s, replay.duration_s)
        rate, recorded = replay.rate, replay.until(duration_s)
    if rate is None and connections is None:
        connections = CLOSED_LOOP_CONNECTIONS
    return Load(
        origin=origin,
        requests=workload.requests,
        recorded=recorded,
        rate=rate,
        arrival_seed=_arrival_seed(arrivals or "even"),
        connections=connections,
        duration_s=duration_s,
        timeout_s=duration(timeout_text),
        processes=processes,
        core=_core() if processes == 1 else None,
        **talk,
    )


def _login(url: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The URL without the user and password that it may name, and the header that says who they are (RFC 7617)."""
    login, at, _ = urllib.parse.urlsplit(url).netloc.rpartition("@")
    if not at:
        return url, ()
    user, _, password = login.partition(":")
    given = f"{urllib.parse.unquote(user)}:{urllib.parse.unquote(password)}".encode()
    header = ("Authorization", f"Basic {base64.b64encode(given).decode('ascii')}")
    return url.replace(f"//{login}@", "//", 1), (header,)


def _logged_in(request: Request, login: tuple[tuple[str, str], ...]) -> Request:
    """The request with the header of a login, if there is one. Raises UserError where it has one of its own."""
    if login and any(name.lower() == "authorization" for name, _ in request.headers):
        raise UserError(f"{request.name} has a header Authorization, and the URL names a user; leave one of them out")
    return dataclasses.replace(request, headers=(*request.headers, *login))


def _workload(url: str, login: tuple[tuple[str, str], ...], asked: Asked) -> tuple[str, Workload]:
    """The origin and what it is asked, by whoever the URL names. Raises UserError."""
    origin, path = split(url)
    if asked.workload is None:
        if asked.speed is not None:
            raise UserError("--speed replays a recorded workload; name its file with --workload")
        return origin, Workload((_logged_in(_request(path, asked), login),))
    if (asked.method, tuple(asked.headers), asked.body) != ("GET", (), None):
        raise UserError("--workload names the requests; --method, --header and --body do not go with it")
    if path != "/":
        raise UserError(f"--workload names the paths; write the URL without one: {origin}")
    found = from_toml.read(asked.workload)
    return origin, Workload(tuple(_logged_in(request, login) for request in found.requests), found.at)


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
        key, _, why = str(error).partition(":")
        raise UserError(f"{OPTIONS.get(key, key)}:{why}") from None


def _body(text: str) -> bytes:
    """The text, or with ``@`` before it the contents of the file of that name."""
    if not text.startswith("@"):
        return text.encode()
    try:
        return files.read(Path(text[1:]), MOST_BODY_BYTES)
    except OSError as error:
        raise UserError(f"--body {text}: {text[1:]} cannot be read: {error.strerror}") from None


def nothing_ok(load: Load, result: Result) -> str | None:
    """Why no request was answered as expected, and what is likely to help; None where one was."""
    if result.ok:
        return None
    seen = [f"{count:,} {result.examples.get(kind, kind)}" for kind, count in result.failed.items()]
    hosts_named = any(name.lower() == "host" for request in load.requests for name, _ in request.headers)
    hint = ""
    if result.examples.get("status", "").startswith("status 400 ") and not hosts_named:
        hint = (
            "; a Django project answers 400 where ALLOWED_HOSTS does not have the host: give the name that it has as "
            "a header, --header 'Host: NAME' or, in a workload file, headers = { Host = \"NAME\" }"
        )
    return f"no request was answered as expected: {series(seen) or 'none was sent'}{hint}"


def send(engine: str, load: Load, on_second: OnSecond) -> Result:
    """Sends the load; ``on_second`` is told of each second of it. Raises UserError."""
    return engines.get(engine).run(load, on_second)


@dataclasses.dataclass(frozen=True)
class UrlSearch:
    """A search for the capacity of a URL, as a person asked for it."""

    load: Load
    objective: Objective
    plan: SearchPlan


def search(
    url: str,
    headers: Sequence[str],
    objective: str,
    start_rate: float,
    max_rate: float,
    probe: str,
    confirm: str,
    max_time: str | None,
    allow_remote: bool,
    arrivals: str = "random",
    connections: int | None = None,
    size: int | None = None,
) -> UrlSearch:
    """The search that a person asked for. Raises UserError for what makes no sense."""
    url, talk = echoes(url, size)
    require_local(url, allow_remote)
    origin, workload = _workload(*_login(url), Asked(headers=headers))
    short_s, long_s = duration(probe), duration(confirm)
    try:
        wanted = objectives.parse(objective, OF_ECHOES if talk else OF_REQUESTS)
        plan = SearchPlan(
            start_rate=start_rate,
            max_rate=max_rate,
            short_s=short_s,
            long_s=long_s,
            requests=wanted.requests,
            max_s=None if max_time is None else duration(max_time),
            counts="messages" if talk else "requests",
            unit="messages/s" if talk else "requests/s",
        )
        plan.require_knowable()
    except ValueError as error:
        raise UserError(str(error)) from None
    seed = _arrival_seed(arrivals)
    if talk and connections is None:
        connections = CONNECTIONS_HELD
    load = Load(
        origin,
        workload.requests,
        rate=start_rate,
        arrival_seed=seed,
        connections=connections,
        core=_core(),
        **talk,
    )
    return UrlSearch(load, wanted, plan)


def find_capacity(wanted: UrlSearch, on_probe: Callable[[Probed], None]) -> FoundCapacity:
    """Finds the capacity; ``on_probe`` is told of each probe when it has been judged.

    Raises UserError, also where no request is answered as expected: at once where the server says so.
    """
    engine = engines.get("openloop")
    engine.require()
    calm_down = _calming(wanted.load)
    why: str | None = "no probe was made"

    def run_load(load: Load, on_second: OnSecond, should_stop: ShouldStop) -> Result:
        nonlocal why
        calm_down()
        result = engine.run(load, on_second, should_stop)
        why = why and nothing_ok(load, result)
        if why and SAID_NO & result.errors.keys():
            raise UserError(why)
        return result

    found = capacity.find(wanted.load, wanted.objective, wanted.plan, run_load, lambda second: None, on_probe)
    if why:
        raise UserError(why)
    return found


def _arrival_seed(arrivals: str) -> int | None:
    """What the moments of a load are drawn by, always the same ones; None for even ones. Raises UserError."""
    if arrivals not in ARRIVALS:
        raise UserError(f"--arrivals {quoted(arrivals)}: {' or '.join(ARRIVALS)} is allowed")
    return ARRIVAL_SEED if arrivals == "random" else None


def _calming(load: Load) -> Callable[[], object]:
    """What to call before a probe, so that it does not bear what the one before left behind: it waits until the URL
    answers nearly as quickly as now, when nothing is asked of it. One that does not answer now, and one that is asked
    over https, is not waited for."""
    parts = urllib.parse.urlsplit(load.origin)
    [request] = load.requests

    def ask_once() -> object:
        return ask(str(parts.hostname), parts.port or 80, request, health.CALM_WITHIN_S)

    if parts.scheme != "http":
        return lambda: None
    try:
        idle_s = health.seconds_to_answer(ask_once)
    except (OSError, http.client.HTTPException):
        return lambda: None
    return lambda: health.calm_down(ask_once, idle_s)


def _core() -> int:
    """The core of the generator on this machine."""
    return hosts.at("local").allot(None).generator[0]
