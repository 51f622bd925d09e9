"""Starts each setup in turn and compares their answers with those of the first: `python -m loadtests check`. Those that
are there for WebSockets are asked its cases instead (``loadtests.serve.websocket_cases``).

For the sample project these are the requests of the contract; for a project of the user's, those that they name. There
the first setup's answers are no better than the others': what is found is that WSGI and ASGI, or two servers, differ.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial

from loadtests import hosts, setups
from loadtests.errors import UserError
from loadtests.hosts import Host
from loadtests.serve import scripted
from loadtests.serve.base import NotServing
from loadtests.serve.contract import answers, expectation, meets, show
from loadtests.serve.http import Answer
from loadtests.serve.sample_requests import REQUESTS
from loadtests.serve.serving import Serving, serving
from loadtests.serve.websocket import broken_cases
from loadtests.setups import WEBSOCKET, Setup, fetching, services
from loadtests.setups.application import Application, sample
from loadtests.setups.application.progress import Announce
from loadtests.setups.needs import missing
from loadtests.workload import Conversation, Request

LEAST_FETCH_TIMEOUT_S = 1.0  # a machine that is slow for a moment is no difference between setups
RECIPE = "fast"  # what the origin plays: answers that are alike at all times
REFERENCE = "gunicorn"  # WSGI is what Django's views have been written for the longest

Start = Callable[[Setup], AbstractContextManager[Serving]]


@dataclasses.dataclass(frozen=True)
class Difference:
    """A request that a setup answered otherwise than the reference did; both answers in words."""

    setup: str
    request: Request
    expected: str
    given: str


@dataclasses.dataclass
class Check:
    """What a check found: the setups that were compared, those that were skipped and why, those that do not serve, all
    that differs from the answers of the first, and what those for WebSockets did in their cases."""

    requests: Sequence[Request]
    compared: list[Setup] = dataclasses.field(default_factory=list)
    skipped: dict[str, str] = dataclasses.field(default_factory=dict)
    failed: list[tuple[Setup, NotServing]] = dataclasses.field(default_factory=list)
    differences: list[Difference] = dataclasses.field(default_factory=list)
    not_asked: dict[str, Counter[str]] = dataclasses.field(default_factory=dict)  # how many requests, by why not
    websocket_cases: dict[str, tuple[int, list[str]]] = dataclasses.field(default_factory=dict)
    """By setup: how many cases it was asked, and what went wrong in them."""
    websocket_failures: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    """What went wrong over the WebSockets of the user's, by each setup that was asked; none where it delivers."""

    @property
    def good(self) -> bool:
        """Whether every setup serves and answers as the reference does, also over WebSockets."""
        broken = [*self.websocket_failures.values(), *(sentences for _, sentences in self.websocket_cases.values())]
        return not self.failed and not self.differences and not any(broken)


def check(
    names: Sequence[str],
    told: Announce,
    application: Application | None = None,
    requests: Sequence[Request] = REQUESTS,
    host: Host | None = None,
) -> Check:
    """Compares the answers of the setups of these names, of all where none is named.

    The reference is started first, even where it is not named. Setups for WebSockets are not compared with it: they are
    asked its cases. Without an application the sample project is asked.
    ``told`` is told of each setup before it is started. Raises UserError, also for a setup that was named and that
    this machine cannot start; one that was not named is skipped.
    """
    application = application or sample()
    questions = _Questions.of(application, requests)
    requests = application.addressed(questions.requests)
    result = Check(requests)
    found = [setup for setup in setups.find(names) if names or not (application.own and setup.dialect)]
    chosen = _served(found, application, bool(names), result)
    compared = [setup for setup in chosen if not setup.dialect]
    if compared and not application.own:
        compared.sort(key=lambda setup: setup.name != REFERENCE)
        if compared[0].name != REFERENCE:
            compared = [*setups.find([REFERENCE]), *compared]
    host = host or hosts.at("local")
    bind, port = setups.bind(), setups.port()
    env = host.allot(os.environ.get("CORES")).knobs({})
    host.require_free(bind, port)
    told("preparing the project")
    application.prepare()
    start = partial(serving, env=env, bind=bind, port=port, application=application, host=host)
    fetching_too = partial(start, env={**env, **questions.env}, services=questions.services)
    _compare(compared, fetching_too, application, told, result)
    for setup in chosen:
        if setup.dialect:
            told(setup.name)
            try:
                with start(setup) as running:
                    result.websocket_cases[setup.name] = broken_cases(running, setup.dialect, setup.cannot)
            except NotServing as error:
                result.failed.append((setup, error))
    return result


@dataclasses.dataclass(frozen=True)
class _Questions:
    """What is asked, the services that have to run beside each setup for it, and knobs."""

    requests: Sequence[Request]
    services: Sequence[str] = ()
    env: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, application: Application, requests: Sequence[Request]) -> _Questions:
        """These requests, without those to views that cannot fetch here: where the origin cannot be started, or where
        the client that HTTP_CLIENT names is not for them behind every setup."""
        if application.own:
            return cls(requests)
        client = os.environ.get("HTTP_CLIENT", "")
        fit = [one for one in requests if all(fetching.fits(one.path, way, client) for way in ("wsgi", "asgi"))]
        if not fit:
            paths = ", ".join(one.path for one in requests)
            raise UserError(f"HTTP_CLIENT={client} does not fit the views of {paths} behind every setup")
        if not any(fetching.fetches(one.path) for one in fit):
            return cls(fit)
        if missing(services.known()[fetching.ORIGIN].needs) is not None and not os.environ.get("ORIGIN_URL"):
            return cls([one for one in fit if not fetching.fetches(one.path)])
        env = {"ORIGIN_RECIPE": RECIPE}
        if (given := os.environ.get("FETCH_TIMEOUT")) and float(given) < LEAST_FETCH_TIMEOUT_S:
            env["FETCH_TIMEOUT"] = f"{LEAST_FETCH_TIMEOUT_S:g}"
        return cls(fit, [fetching.ORIGIN], env)


def _compare(chosen: Sequence[Setup], start: Start, application: Application, told: Announce, result: Check) -> None:
    """Asks each setup in turn and notes what differs from the answers of the first."""
    expected: dict[str, Answer | str] = {}
    for setup in chosen:
        told(setup.name)
        try:
            with start(setup) as running:
                refused = {one.name: application.refused(setup, (), [one]) for one in result.requests}
                asked = [one for one in result.requests if refused[one.name] is None]
                given = answers(running, asked)
                _talk(setup, running, application, result)
        except NotServing as error:
            result.failed.append((setup, error))
            if not expected and not application.own:
                break  # there is nothing to compare with
            continue
        expected = expected or {request.name: answer for request, answer in zip(asked, given, strict=True)}
        theirs = [expected[request.name] for request in asked]
        result.compared.append(setup)
        result.differences += [
            Difference(setup.name, request, show(reference), show(own))
            for request, reference, own in zip(asked, theirs, given, strict=True)
            if not _alike(reference, own)
        ]
        if unasked := Counter(why for why in refused.values() if why is not None):
            result.not_asked[setup.name] = unasked


def _talk(setup: Setup, running: Serving, application: Application, result: Check) -> None:
    """Sends a message over the WebSockets of the user's, where there are any and the setup has them."""
    own = application.websocket
    if own is None or application.refused(setup, [WEBSOCKET]) is not None:
        return
    request, said = own.request(application.host), own.scripted(Conversation("echo"))
    result.websocket_failures[setup.name] = scripted.verified(running, request, said)


def _alike(reference: Answer | str, given: Answer | str) -> bool:
    """Whether two setups answered alike; two that do not answer are alike as well."""
    if isinstance(reference, str) or isinstance(given, str):
        return reference == given
    return reference.varies == given.varies and meets(given, expectation(reference, own=False))


def _served(chosen: Sequence[Setup], application: Application, named: bool, result: Check) -> list[Setup]:
    served = []
    for setup in chosen:
        obstacle = application.obstacle(setup)
        if obstacle is None:
            served.append(setup)
        elif named:
            raise UserError(f"{setup.name}: {obstacle}")
        else:
            result.skipped[setup.name] = obstacle
    if not served:
        raise UserError("none of the setups can be started here: " + "; ".join(result.skipped.values()))
    return served
