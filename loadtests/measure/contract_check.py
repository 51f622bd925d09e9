"""Check the contract of a run: before each trial, every setup must give the baseline's answers from the preflight.

Before the first trial, the preflight starts the baseline, once for all tests with the same supporting services, and
sends it the requests of all tests. run.json contains the baseline's answers. If the project can't be imported, its
database is down or a path is missing, the run ends with a one-line error before it writes anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from loadtests.errors import UserError, reason_of
from loadtests.measure import websocket_contract
from loadtests.measure.bench import Bench
from loadtests.plan.entries import Entry
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.journey import JourneyTest
from loadtests.plan.study import Study
from loadtests.records.run.run_record import Contract, Expectation
from loadtests.serve import contract, signed_in
from loadtests.serve.serving import NotServing, Serving
from loadtests.serve.signed_in import NotSignedIn
from loadtests.workload import Load, Request


def preflight(bench: Bench, study: Study) -> tuple[Contract, float]:
    """Start the study's baseline and send it all requests.

    Returns:
        The baseline's answers to the requests of each test, and its memory in MB after these requests.

    Raises:
        UserError: If the baseline doesn't start, or an answer differs from the study's expectation.
    """
    baseline = next(entry for entry in study.entries if entry.label == study.baseline)
    found: Contract = {}
    memory_mb = 0.0
    for start_options in dict.fromkeys(test.start_options for test in study.tests):
        tests = [test for test in study.tests if test.start_options == start_options]
        try:
            with bench.serving(baseline, start_options) as server:
                found |= {test.name: _expectations(bench, server, test, baseline) for test in tests}
                used = bench.host.usage(server.parts(), server.folder).values()
                memory_mb = max(memory_mb, sum(one.rss_mb for one in used))
        except NotServing as error:
            why = f": {reason_of(error.log)}" if error.log else ""
            raise UserError(f"{baseline.setup}: {error}{why}") from None
    return found, memory_mb


def _expectations(bench: Bench, server: Serving, test: Test, baseline: Entry) -> tuple[Expectation, ...]:
    found = []
    try:
        cookies = _cookies(bench, server, test, most=1)
    except NotSignedIn as error:
        raise UserError(f"test {test.name}: users can't log in: {error}") from None
    for request in requests_of(bench, test, cookies):
        given = contract.answer(server, request)
        if isinstance(given, str) or given.status != request.status:
            answered = f"{request.method} {request.path}: {contract.describe(given)}"
            raise UserError(
                f"test {test.name}: {answered}. Expected {request.status}"
                f"{contract.hint(request, given, bench.application)}"
            )
        found.append(contract.expectation(given, bench.application.own))
    if broken := broken_dialect(bench, server, test, baseline, cookies):
        raise UserError(f"test {test.name}: {broken[0]}")
    return tuple(found)


def requests_of(bench: Bench, test: Test, cookies: Sequence[str] = ()) -> tuple[Request, ...]:
    """Return the test's requests with the project's headers and, if its users log in, with the first user's cookie."""
    requests = bench.application.addressed(test.requests)
    return tuple(one.with_cookie(cookies[0]) for one in requests) if cookies else requests


def _cookies(bench: Bench, server: Serving, test: Test, most: int | None) -> tuple[str, ...]:
    """Log at most this number of the test's users in, and return their cookies.

    Raises:
        NotSignedIn: If a login fails.
    """
    who = test.sign_in
    return signed_in.cookies(server.url, who, bench.application, server.ca, most) if who else ()


def checked_load(bench: Bench, server: Serving, test: Test, entry: Entry, chance: int) -> tuple[Load | None, list[str]]:
    """Log the users of a test in, and check the contract of the test on a running setup.

    Returns:
        The load, or None if a login failed, and messages about violations of the contract.
    """
    most = 1 if isinstance(test, JourneyTest) else None  # because the users of a journey log in themselves
    try:
        cookies = _cookies(bench, server, test, most)
    except NotSignedIn as error:
        return None, [f"users can't log in: {error}"]
    bodies, broken = contract.verified(server, requests_of(bench, test, cookies), bench.contract[test.name])
    broken = [*broken, *broken_dialect(bench, server, test, entry, cookies)]
    load = bench.load(test, server.url, bodies, chance, entry)
    return dataclasses.replace(load, ca=server.ca, cookies=cookies), broken


def broken_dialect(bench: Bench, server: Serving, test: Test, entry: Entry, cookies: Sequence[str] = ()) -> list[str]:
    """Return a sentence for each way in which the entry's setup violates its WebSocket dialect for the first user."""
    load = bench.load(test, server.url, entry=entry)
    if load.conversation is None:
        return []
    [request] = load.requests
    request = request.with_cookie(cookies[0]) if cookies else request
    return websocket_contract.broken(server.url, request, load.conversation, load.core)
