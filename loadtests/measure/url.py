"""Send load to a URL, or search for its capacity, according to the command-line options."""

from __future__ import annotations

import base64
import dataclasses
import http.client
import urllib.parse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from loadtests import engines, files, hosts
from loadtests.engines.base import OnSecond, Watch
from loadtests.errors import UserError, quoted
from loadtests.formatting import series
from loadtests.measure import capacity
from loadtests.measure.capacity import FoundCapacity, Probed
from loadtests.measure.remote_guard import require_local
from loadtests.plan import objective as objectives
from loadtests.plan.kinds.echo import Echo
from loadtests.plan.kinds.talk import LISTENS_S
from loadtests.plan.objective import OF_ECHOES, OF_REQUESTS, Objective, SearchPlan
from loadtests.records import Result
from loadtests.records.decode import duration
from loadtests.serve import health
from loadtests.serve.http import ask
from loadtests.workload import Conversation, Load, Request, Workload, from_toml
from loadtests.workload.load import ARRIVALS, split
from loadtests.workload.request import MAX_BODY_BYTES

CLOSED_LOOP_CONNECTIONS = 10
DURATION_S = 10.0
MESSAGE_BYTES = 64
ARRIVAL_SEED = 2016  # fixed, so that two URLs receive the same load
OPTIONS = {"method": "--method", "headers": "--header", "path": "the path of the URL"}  # the fields' names in messages

# A lower rate can't prevent these errors. A rate that is too high leads to timeouts.
REFUSALS = {"status", "refused", "wrong-body", "other"}


@dataclasses.dataclass(frozen=True)
class UrlRequests:
    """The requests to send: a single request to the URL, or a workload file. A speed replays a recorded workload."""

    method: str = "GET"
    headers: Sequence[str] = ()
    body: str | None = None
    workload: Path | None = None
    speed: float | None = None


@dataclasses.dataclass(frozen=True)
class UrlLoad:
    """The command-line options for the load on a URL. ``size`` is the size of messages over ws:// in bytes."""

    url: str
    requests: UrlRequests = UrlRequests()
    rate: float | None = None
    connections: int | None = None
    duration: str | None = None
    timeout: str = "10s"
    processes: int = 1
    allow_remote: bool = False
    arrivals: str | None = None
    size: int | None = None

    def load(self) -> Load:
        """Return the load.

        Raises:
            UserError: If the options aren't valid.
        """
        requests = self.requests
        url, conversation = _websocket(self.url, self.size)
        require_local(url, self.allow_remote)
        if conversation and (requests.method, requests.body, requests.workload) != ("GET", None, None):
            raise UserError("a ws:// URL receives messages. Leave out --method, --body and --workload")
        if self.arrivals is not None and (self.rate is None or requests.speed is not None):
            raise UserError("--arrivals only works with a fixed rate. Add --rate")
        origin, workload = _workload(*_login(url), requests)
        duration_s = DURATION_S if self.duration is None else duration(self.duration)
        rate, connections = self.rate, self.connections
        recorded: tuple[tuple[float, int], ...] = ()
        if requests.speed is not None:
            if rate is not None:
                raise UserError("--speed replays a recording at its recorded pace. Leave out --rate")
            replay = workload.replay(requests.speed)
            duration_s = replay.duration_s if self.duration is None else min(duration_s, replay.duration_s)
            rate, recorded = replay.rate, replay.until(duration_s)
        if rate is None and connections is None:
            connections = CLOSED_LOOP_CONNECTIONS
        return Load(
            origin=origin,
            requests=workload.requests,
            recorded=recorded,
            rate=rate,
            arrival_seed=_arrival_seed(self.arrivals or "even"),
            connections=connections,
            duration_s=duration_s,
            timeout_s=duration(self.timeout),
            processes=self.processes,
            core=hosts.at("local").allot(None).generator[0] if self.processes == 1 else None,
            **conversation,
        )


@dataclasses.dataclass(frozen=True)
class UrlSearch:
    """A search for the capacity of a URL: the load of its probes, the objective, and the plan."""

    load: Load
    objective: Objective
    plan: SearchPlan


@dataclasses.dataclass(frozen=True)
class UrlSearchOptions:
    """The command-line options for a search for the capacity of a URL. The load's rate is the first rate to try."""

    load: UrlLoad
    objective: str = "p99<50ms"
    max_rate: float = 100_000.0
    probe: str = "2s"
    confirm: str = "30s"
    max_time: str | None = None

    def search(self) -> UrlSearch:
        """Return the search.

        Raises:
            UserError: If the options aren't valid.
        """
        _, conversation = _websocket(self.load.url, self.load.size)
        sends = "messages" if conversation else "requests"
        short_s, long_s = duration(self.probe), duration(self.confirm)
        try:
            objective = objectives.parse(self.objective, OF_ECHOES if conversation else OF_REQUESTS)
            plan = SearchPlan(
                start_rate=self.load.rate or 0.0,
                max_rate=self.max_rate,
                short_s=short_s,
                long_s=long_s,
                requests=objective.requests,
                max_s=None if self.max_time is None else duration(self.max_time),
                counts=sends,
                unit=f"{sends}/s",
            )
            plan.require_knowable()
        except ValueError as error:
            raise UserError(str(error)) from None
        load = self.load.load()
        if conversation:
            connections = load.connections or Echo().connections
            # a probe doesn't wait for duplicate messages
            load = dataclasses.replace(load, connections=connections, listens_s=0.0)
        return UrlSearch(load, objective, plan)


def send(engine: str, load: Load, on_second: OnSecond) -> Result:
    """Send the load with an engine. ``on_second`` is called with the figures of each second.

    Raises:
        UserError: If the engine can't send the load.
    """
    return engines.get(engine).run(load, Watch(on_second))


# The keys are parts of Node's and OpenSSL's messages. The first matching key determines the hint.
TLS_HINTS = {
    "certificate has expired": "renew the server's certificate",
    "certificate is not yet valid": "check the clocks of both machines",
    "does not match certificate": "in the URL, use a host name that the certificate contains",
    "wrong version number": "the server doesn't use TLS on this port. Write http:// in the URL",
    "packet length too long": "the server doesn't use TLS on this port. Write http:// in the URL",
    "certificate": "to trust the certificate, set NODE_EXTRA_CA_CERTS to its file",
}


def nothing_ok(load: Load, result: Result) -> str | None:
    """Return why no request was answered as expected, with a hint, or None if at least one answer was as expected."""
    if result.ok:
        return None
    # Some of OpenSSL's messages end with a line break.
    failures = [f"{count:,} {result.examples.get(kind, kind).strip()}" for kind, count in result.failed.items()]
    names_host = any(name.lower() == "host" for request in load.requests for name, _ in request.headers)
    example = result.examples.get("other", "")
    hint = next((f"; {what}" for words, what in TLS_HINTS.items() if words in example), "")
    if result.examples.get("status", "").startswith("status 400 ") and not names_host:
        hint = (
            "; a Django project answers 400 if ALLOWED_HOSTS doesn't contain the host. Send an allowed host: "
            "--header 'Host: NAME' or, in a workload file, headers = { Host = \"NAME\" }"
        )
    return f"no request was answered as expected: {series(failures) or 'none was sent'}{hint}"


def find_capacity(search: UrlSearch, on_probe: Callable[[Probed], None], on_second: OnSecond) -> FoundCapacity:
    """Find the capacity of a URL.

    Args:
        search: The load of the probes, the objective, and the plan.
        on_probe: Called with each judged probe.
        on_second: Called with the figures of each second of load.

    Raises:
        UserError: If no request is answered as expected. If the server refuses the first requests, the search ends
            immediately.
    """
    engine = engines.get("openloop")
    engine.require()
    wait_for_calm = _waiting_for_calm(search.load)
    why: str | None = "no probe was made"

    def run_load(load: Load, watch: Watch) -> Result:
        nonlocal why
        wait_for_calm()
        result = engine.run(load, watch.shared_with(on_second))
        why = why and nothing_ok(load, result)
        if why and REFUSALS & result.errors.keys():
            raise UserError(why)
        return result

    found = capacity.find(search.load, search.objective, search.plan, run_load, on_probe)
    if why:
        raise UserError(why)
    return found


def _waiting_for_calm(load: Load) -> Callable[[], object]:
    """Return a function that waits until the URL answers nearly as fast as it does now without load.

    The server may still have work from an earlier probe. The function does nothing for https, or if the URL doesn't
    answer now.
    """
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


def _websocket(url: str, size: int | None) -> tuple[str, dict[str, Any]]:
    """Return the HTTP URL and, for ws://, the fields of a load that sends messages to an echo.

    Raises:
        UserError: If the URL or the size isn't valid.
    """
    scheme, separator, rest = url.partition("://")
    if scheme.lower() == "wss":
        raise UserError("wss:// is not supported. Use the ws:// address of the server behind the TLS proxy")
    if scheme.lower() != "ws":
        if size is not None:
            raise UserError("--size only works for WebSocket messages. Use a ws:// URL")
        return url, {}
    conversation = Conversation("echo", prefix="", size=MESSAGE_BYTES if size is None else size)
    fields = {"protocol": "websocket", "conversation": conversation, "listens_s": LISTENS_S}
    return f"http{separator}{rest}", fields


def _login(url: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the URL without its user and password, and an Authorization header with this login (RFC 7617)."""
    login, at, _ = urllib.parse.urlsplit(url).netloc.rpartition("@")
    if not at:
        return url, ()
    user, _, password = login.partition(":")
    plain = f"{urllib.parse.unquote(user)}:{urllib.parse.unquote(password)}".encode()
    header = ("Authorization", f"Basic {base64.b64encode(plain).decode('ascii')}")
    return url.replace(f"//{login}@", "//", 1), (header,)


def _workload(url: str, login: tuple[tuple[str, str], ...], requests: UrlRequests) -> tuple[str, Workload]:
    """Return the origin of the URL and the requests. ``login`` is a header to add to each request.

    Raises:
        UserError: If the options aren't valid.
    """
    origin, path = split(url)
    if requests.workload is None:
        if requests.speed is not None:
            raise UserError("--speed only works with a recorded workload. Name its file with --workload")
        return origin, Workload((_logged_in(_request(path, requests), login),))
    if (requests.method, tuple(requests.headers), requests.body) != ("GET", (), None):
        raise UserError("--workload defines the requests. Leave out --method, --header and --body")
    if path != "/":
        raise UserError(f"--workload defines the paths. Write the URL without a path: {origin}")
    found = from_toml.read(requests.workload)
    return origin, Workload(tuple(_logged_in(request, login) for request in found.requests), found.at)


def _logged_in(request: Request, login: tuple[tuple[str, str], ...]) -> Request:
    if login and any(name.lower() == "authorization" for name, _ in request.headers):
        raise UserError(f"{request.name} has an Authorization header, and the URL contains a login. Leave one out")
    return dataclasses.replace(request, headers=(*request.headers, *login))


def _request(path: str, requests: UrlRequests) -> Request:
    headers = []
    for header in requests.headers:
        name, colon, value = header.partition(":")
        if not colon:
            raise UserError(f"--header {header!r}: must be a name, a colon and a value, such as 'Accept: text/html'")
        headers.append((name.strip(), value.strip()))
    body = None if requests.body is None else _body(requests.body)
    try:
        return Request(f"{requests.method} {path}", requests.method, path, tuple(headers), body)
    except UserError as error:
        key, _, why = str(error).partition(":")
        raise UserError(f"{OPTIONS.get(key, key)}:{why}") from None


def _body(text: str) -> bytes:
    """Return the text, or the content of the file after ``@``."""
    if not text.startswith("@"):
        return text.encode()
    try:
        return files.read(Path(text[1:]), MAX_BODY_BYTES)
    except OSError as error:
        raise UserError(f"--body {text}: {text[1:]} cannot be read: {error.strerror}") from None


def _arrival_seed(arrivals: str) -> int | None:
    """Return the fixed seed of random arrivals, or None for even arrivals.

    Raises:
        UserError: If the value isn't valid.
    """
    if arrivals not in ARRIVALS:
        raise UserError(f"--arrivals {quoted(arrivals)}: must be {' or '.join(ARRIVALS)}")
    return ARRIVAL_SEED if arrivals == "random" else None
