"""Before the first trial: does the project serve what the study asks, and which answers are all setups held to?

The baseline is started once and asked each request of each test. What it answers is the contract of the run: kept in
run.json, so that a run that is resumed is held to the same. A project that does not import, a database that is down or
a path that is not there shows here, in one line, before anything is written.
"""

from __future__ import annotations

from typing import Any

from loadtests.application import Application
from loadtests.errors import UserError, said
from loadtests.measure.trial import Bench
from loadtests.plan.study import Study, Test
from loadtests.serve.contract import answer, digest, show
from loadtests.serve.http import Answer
from loadtests.serve.serving import NotServing, Serving, serving

# By test, for each of its requests: status, content_type, and sha256 of the body or None where it is not compared.
Contract = dict[str, list[dict[str, Any]]]


def contract(bench: Bench, study: Study) -> Contract:
    """What the study's baseline answers to the requests of each test.

    Raises UserError where it does not start, or a request is answered otherwise than the study expects.
    """
    baseline = next(entry for entry in study.entries if entry.label == study.baseline)
    env = {**baseline.env, "CORES": bench.cores.servers_list}
    try:
        with serving(bench.setups[baseline.setup], env, bench.host, bench.port, bench.application) as running:
            return {test.name: _answers(running, bench.application, test) for test in study.tests}
    except NotServing as error:
        why = f": {said(error.log)}" if error.log else ""
        raise UserError(f"{baseline.setup}: {error}{why}") from None


def _answers(running: Serving, application: Application, test: Test) -> list[dict[str, Any]]:
    found = []
    for request in application.addressed(test.requests):
        given = answer(running, request)
        if isinstance(given, str) or given.status != request.status:
            raise UserError(
                f"test {test.name}: {request.method} {request.path}: {_shown(given)}; {request.status} is needed"
            )
        # A page of the user's own may hold the time or who serves it: `check` tells, a run goes on.
        compared = not given.varies and not application.own
        found.append(
            {
                "status": given.status,
                "content_type": given.content_type,
                "sha256": digest(given.body) if compared else None,
            }
        )
    return found


def _shown(given: Answer | str) -> str:
    return given if isinstance(given, str) else f"answered {show(given)}"
