"""The contract of a run: the baseline's answers before the first trial, which every setup must give before each trial.

In the preflight the baseline is started (once for all tests with the same supporting services) and sent each request of
each test; its answers are kept in run.json. A project that does not import, a database that is down or a path that is
not there shows here, in one line, before anything is written.
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
from loadtests.serve.http import Answer
from loadtests.serve.serving import NotServing, Serving
from loadtests.serve.signed_in import NotSignedIn
from loadtests.workload import Request

NOT_SHOWN = (302, 401, 403)  # the answer to those who are not signed in, or may not see a page


@dataclasses.dataclass(frozen=True)
class Preflight:
    """The baseline's answers to each test, and the memory that it then takes, in MB."""

    contract: Contract
    memory_mb: float


def preflight(bench: Bench, study: Study) -> Preflight:
    """Starts the study's baseline and sends it each request.

    Raises UserError where it does not start, or a request is answered otherwise than the study expects.
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
        raise UserError(f"test {test.name}: users cannot sign in: {error}") from None
    for request in requests:
        given = contract.answer(server, request)
        if isinstance(given, str) or given.status != request.status:
            answered = f"{request.method} {request.path}: {contract.describe(given)}"
            raise UserError(f"test {test.name}: {answered}; {request.status} is needed{_hint(bench, request, given)}")
        found.append(contract.expectation(given, bench.application.own))
    if broken := broken_dialect(bench, server, test, baseline):
        raise UserError(f"test {test.name}: {broken[0]}")
    return tuple(found)


def _hint(bench: Bench, request: Request, given: Answer | str) -> str:
    """What is likely to help where a project of the user's refuses the host, or the user."""
    if isinstance(given, str):
        return ""
    if given.status in NOT_SHOWN and any(name == "Cookie" for name, _ in request.headers):
        return "; may whoever signed in see it, and is the session still there?"
    if given.status == 400 and bench.application.own:
        return "; if its ALLOWED_HOSTS does not have the host, name one that it has: --host-header NAME"
    return ""


def requests_of(bench: Bench, server: Serving, test: Test) -> tuple[Request, ...]:
    """The test's requests, for the project's host, and signed in where its users are. Raises NotSignedIn."""
    requests = bench.application.addressed(test.requests)
    users = bench.load(test, server.url).users
    if users is None or users.sign_in is None:
        return requests
    cookie = signed_in.cookies(server.url, users.sign_in, bench.application.host)
    return tuple(dataclasses.replace(one, headers=(*one.headers, ("Cookie", cookie))) for one in requests)


def verified(bench: Bench, server: Serving, test: Test, entry: Entry) -> tuple[list[bytes | None], list[str]]:
    """The bodies that the test's requests must be answered with under load, and all differences from the contract, in
    sentences."""
    try:
        requests = requests_of(bench, server, test)
    except NotSignedIn as error:
        return [], [f"users cannot sign in: {error}"]
    bodies, broken = contract.verified(server, requests, bench.contract[test.name])
    return bodies, [*broken, *broken_dialect(bench, server, test, entry)]


def broken_dialect(bench: Bench, server: Serving, test: Test, entry: Entry) -> list[str]:
    """Where the entry's setup does not follow its WebSocket dialect, in sentences."""
    load = bench.load(test, server.url, entry=entry)
    if (conversation := load.conversation) is None:
        return []
    if conversation.script is not None:
        [request] = load.requests
        return scripted.verified(server, request, conversation)
    return websocket.verified(server, conversation.dialect, conversation.prefix)
