"""Send load to a URL, or search for its capacity, according to the command-line options."""

from __future__ import annotations

import dataclasses
import http.client
import urllib.parse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from loadtests import engines, hosts
from loadtests.engines.base import OnSecond, Watch
from loadtests.errors import UserError
from loadtests.formatting import series
from loadtests.measure import capacity
from loadtests.measure.remote_guard import require_local
from loadtests.plan import objective as objectives
from loadtests.plan.objective import OF_REQUESTS, Objective, SearchPlan
from loadtests.records import CapacityRecord, ProbeRecord, Result
from loadtests.records.decode import duration
from loadtests.serve import health
from loadtests.serve.http import ask
from loadtests.workload import Load, Request, from_toml
from loadtests.workload.load import split
from loadtests.workload.request import header_pairs

CLOSED_LOOP_CONNECTIONS = 10
ARRIVAL_SEED = 2016  # fixed, so that two URLs receive the same load
OPTIONS = {"method": "--method", "path": "the path of the URL"}  # the fields' names in messages

# A lower rate can't prevent these errors. A rate that is too high leads to timeouts.
REFUSALS = {"status", "refused", "wrong-body", "other"}


@dataclasses.dataclass(frozen=True)
class UrlOptions:
    """The options of both commands: the requests, their connections, and whether the URL may be on another machine.

    The requests are a single request to the URL, or the requests of a workload file.
    """

    url: str
    method: str = "GET"
    header: Sequence[str] = ()
    body: str | None = None
    workload: Path | None = None
    connections: int | None = None
    allow_remote: bool = False

    def load(self, **fields: Any) -> Load:
        """Return the load. ``fields`` are other fields of the load.

        Raises:
            UserError: If the options aren't valid.
        """
        require_local(self.url, self.allow_remote)
        origin, path = split(self.url)
        return Load(origin, self._requests(origin, path), connections=self.connections, **fields)

    def _requests(self, origin: str, path: str) -> tuple[Request, ...]:
        if self.workload is None:
            return (self._request(path),)
        if (self.method, tuple(self.header), self.body) != ("GET", (), None):
            raise UserError("--workload defines the requests. Leave out --method, --header and --body")
        if path != "/":
            raise UserError(f"--workload defines the paths. Write the URL without a path: {origin}")
        return from_toml.read(self.workload).requests

    def _request(self, path: str) -> Request:
        headers = header_pairs(self.header)
        body = None if self.body is None else self.body.encode()
        try:
            return Request(f"{self.method} {path}", self.method, path, headers, body)
        except UserError as error:
            key, _, why = str(error).partition(":")
            raise UserError(f"{OPTIONS.get(key, key)}:{why}") from None


def fixed_or_closed(options: UrlOptions, rate: float | None, duration_s: float, timeout: str, processes: int) -> Load:
    """Return a load at a fixed rate, or in a closed loop without a rate.

    Raises:
        UserError: If the options aren't valid.
    """
    if rate is None and options.connections is None:
        options = dataclasses.replace(options, connections=CLOSED_LOOP_CONNECTIONS)
    return options.load(
        rate=rate,
        duration_s=duration_s,
        timeout_s=duration(timeout),
        processes=processes,
        core=hosts.at("local").allot(None).generator[0] if processes == 1 else None,
    )


@dataclasses.dataclass(frozen=True)
class UrlSearch:
    """A search for the capacity of a URL: the load of its probes, the objective, and the plan."""

    load: Load
    objective: Objective
    plan: SearchPlan


def search(
    options: UrlOptions,
    objective: str,
    start_rate: float,
    max_rate: float,
    probe: str,
    confirm: str,
) -> UrlSearch:
    """Return a search for the capacity of a URL.

    Raises:
        UserError: If the options aren't valid.
    """
    try:
        parsed = objectives.parse(objective, OF_REQUESTS)
        plan = SearchPlan(
            start_rate=start_rate,
            max_rate=max_rate,
            short_s=duration(probe),
            long_s=duration(confirm),
            requests=parsed.requests,
        )
    except ValueError as error:
        raise UserError(str(error)) from None
    core = hosts.at("local").allot(None).generator[0]
    return UrlSearch(options.load(rate=start_rate, arrival_seed=ARRIVAL_SEED, core=core), parsed, plan)


def nothing_ok(load: Load, result: Result) -> str | None:
    """Return why no request was answered as expected, with a hint, or None if at least one answer was as expected."""
    if result.ok:
        return None
    # Some of OpenSSL's messages end with a line break.
    failures = [f"{count:,} {result.examples.get(kind, kind).strip()}" for kind, count in result.failed.items()]
    names_host = any(name.lower() == "host" for request in load.requests for name, _ in request.headers)
    example = result.examples.get("other", "")
    untrusted = any(word in example for word in ("self-signed", "issuer", "verify"))
    hint = "; to trust the certificate, set NODE_EXTRA_CA_CERTS to its file" if untrusted else ""
    if result.examples.get("status", "").startswith("status 400 ") and not names_host:
        hint = (
            "; a Django project answers 400 if ALLOWED_HOSTS doesn't contain the host. Send an allowed host: "
            "--header 'Host: NAME' or, in a workload file, headers = { Host = \"NAME\" }"
        )
    return f"no request was answered as expected: {series(failures) or 'none was sent'}{hint}"


def find_capacity(search: UrlSearch, on_probe: Callable[[ProbeRecord], None], on_second: OnSecond) -> CapacityRecord:
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
    request = load.requests[0]

    def ask_once() -> object:
        return ask(str(parts.hostname), parts.port or 80, request, health.CALM_WITHIN_S)

    if parts.scheme != "http":
        return lambda: None
    try:
        idle_s = health.seconds_to_answer(ask_once)
    except (OSError, http.client.HTTPException):
        return lambda: None
    return lambda: health.calm_down(ask_once, idle_s)
