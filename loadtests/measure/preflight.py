"""Before the first trial: does the project serve what the study requests, and which answers must all setups give?

The baseline is started (once for all tests with the same supporting services) and sent each request of each test. Its
answers are the contract of the run, kept in run.json. A project that does not import, a database that is down or a
path that is not there shows here, in one line, before anything is written.
"""

from __future__ import annotations

import dataclasses

from loadtests.errors import UserError, reason_of
from loadtests.measure import contract_check
from loadtests.measure.bench import Bench
from loadtests.plan.kinds import Test
from loadtests.plan.study import Entry, Study
from loadtests.records.run.run_record import Contract, Expectation
from loadtests.serve import contract as contracts
from loadtests.serve.base import NotServing, Server
from loadtests.serve.http import Answer
from loadtests.serve.signed_in import NotSignedIn
from loadtests.workload import Request

NOT_SHOWN = (302, 401, 403)  # the answer to those who are not signed in, or may not see a page


@dataclasses.dataclass(frozen=True)
class Preflight:
    """The baseline's answers to each test, and the memory that it then takes, in MB."""

    contract: Contract
    memory_mb: float


def look(bench: Bench, study: Study) -> Preflight:
    """Starts the study's baseline and sends it each request.

    Raises UserError where it does not start, or a request is answered otherwise than the study expects.
    """
    baseline = next(entry for entry in study.entries if entry.label == study.baseline)
    contract: Contract = {}
    memory_mb = 0.0
    for start_options in dict.fromkeys(test.start_options for test in study.tests):
        tests = [test for test in study.tests if test.start_options == start_options]
        try:
            with bench.serving(baseline, start_options) as server:
                contract |= {test.name: _expectations(bench, server, test, baseline) for test in tests}
                used = bench.host.usage(server.parts(), server.folder).values()
                memory_mb = max(memory_mb, sum(one.rss_mb for one in used))
        except NotServing as error:
            why = f": {reason_of(error.log)}" if error.log else ""
            raise UserError(f"{baseline.setup}: {error}{why}") from None
    return Preflight(contract, memory_mb)


def _expectations(bench: Bench, server: Server, test: Test, baseline: Entry) -> tuple[Expectation, ...]:
    found = []
    try:
        requests = contract_check.requests_of(bench, server, test)
    except NotSignedIn as error:
        raise UserError(f"test {test.name}: users cannot sign in: {error}") from None
    for request in requests:
        given = contracts.answer(server, request)
        if isinstance(given, str) or given.status != request.status:
            answered = f"{request.method} {request.path}: {contracts.describe(given)}"
            raise UserError(f"test {test.name}: {answered}; {request.status} is needed{_hint(bench, request, given)}")
        found.append(contracts.expectation(given, bench.application.own))
    if broken := contract_check.broken_dialect(bench, server, test, baseline):
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
