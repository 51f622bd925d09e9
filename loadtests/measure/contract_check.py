"""Check the contract of a run: before each trial, every setup must give the baseline's answers from the preflight.

Before the first trial, the preflight starts the baseline, once for all tests with the same supporting services, and
sends it the requests of all tests. run.json contains the baseline's answers. If the project can't be imported, its
database is down or a path is missing, the run ends with a one-line error before it writes anything.
"""

from __future__ import annotations

import dataclasses

from loadtests.errors import UserError, reason_of
from loadtests.measure.bench import Bench
from loadtests.plan.entries import Entry
from loadtests.plan.kinds import Test
from loadtests.plan.study import Study
from loadtests.records.run.run_record import Contract, Expectation
from loadtests.serve import contract, scripted, signed_in, websocket
from loadtests.serve.serving import NotServing, Serving
from loadtests.serve.signed_in import NotSignedIn
from loadtests.workload import Request


@dataclasses.dataclass(frozen=True)
class Preflight:
    """The baseline's answers to the requests of each test, and its memory in MB after these requests."""

    contract: Contract
    memory_mb: float


def preflight(bench: Bench, study: Study) -> Preflight:
    """Start the study's baseline and send it all requests.

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
    return Preflight(found, memory_mb)


def _expectations(bench: Bench, server: Serving, test: Test, baseline: Entry) -> tuple[Expectation, ...]:
    found = []
    try:
        requests = requests_of(bench, server, test)
    except NotSignedIn as error:
        raise UserError(f"test {test.name}: users can't log in: {error}") from None
    for request in requests:
        given = contract.answer(server, request)
        if isinstance(given, str) or given.status != request.status:
            answered = f"{request.method} {request.path}: {contract.describe(given)}"
            raise UserError(
                f"test {test.name}: {answered}. Expected {request.status}"
                f"{contract.hint(request, given, bench.application)}"
            )
        found.append(contract.expectation(given, bench.application.own))
    if broken := broken_dialect(bench, server, test, baseline):
        raise UserError(f"test {test.name}: {broken[0]}")
    return tuple(found)


def requests_of(bench: Bench, server: Serving, test: Test) -> tuple[Request, ...]:
    """Return the test's requests with the project's headers and, if its users log in, with a session cookie.

    Raises:
        NotSignedIn: If the login fails.
    """
    requests = bench.application.addressed(test.requests)
    users = bench.load(test, server.url).users
    if users is None or users.sign_in is None:
        return requests
    cookie = signed_in.cookies(server.url, users.sign_in, bench.application.host)
    return tuple(dataclasses.replace(one, headers=(*one.headers, ("Cookie", cookie))) for one in requests)


def verified(bench: Bench, server: Serving, test: Test, entry: Entry) -> tuple[list[bytes | None], list[str]]:
    """Check the contract of a test on a running setup.

    Returns:
        The bodies that the answers must have under load, and messages about violations of the contract.
    """
    try:
        requests = requests_of(bench, server, test)
    except NotSignedIn as error:
        return [], [f"users can't log in: {error}"]
    bodies, broken = contract.verified(server, requests, bench.contract[test.name])
    return bodies, [*broken, *broken_dialect(bench, server, test, entry)]


def broken_dialect(bench: Bench, server: Serving, test: Test, entry: Entry) -> list[str]:
    """Return a sentence for each way in which the entry's setup violates its WebSocket dialect."""
    load = bench.load(test, server.url, entry=entry)
    if (conversation := load.conversation) is None:
        return []
    if conversation.script is not None:
        [request] = load.requests
        return scripted.verified(server, request, conversation)
    return websocket.verified(server, conversation.dialect, conversation.prefix)
