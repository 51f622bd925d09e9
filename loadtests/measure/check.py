"""Starts each setup in turn and compares their answers with those of the first: `python -m loadtests check`. Those that
are there for WebSockets are held to RFC 6455 instead.

For the sample project these are the requests of the contract; for a project of the user's, those that they name. There
the first setup's answers are no better than the others': what is found is that WSGI and ASGI, or two servers, differ.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial

from loadtests import hosts, setups
from loadtests.application import Application, sample
from loadtests.doing import Doing
from loadtests.errors import UserError
from loadtests.hosts import Host
from loadtests.serve import scripted
from loadtests.serve.base import NotServing
from loadtests.serve.contract import answers, expectation, meets, show
from loadtests.serve.http import Answer
from loadtests.serve.sample_requests import REQUESTS
from loadtests.serve.serving import Serving, serving
from loadtests.serve.websocket import Conformity, conformity
from loadtests.setups import WEBSOCKET, Setup
from loadtests.workload import Conversation, Request

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
    that differs from the answers of the first, and what those for WebSockets did in the cases of RFC 6455."""

    requests: Sequence[Request]
    compared: list[Setup] = dataclasses.field(default_factory=list)
    skipped: dict[str, str] = dataclasses.field(default_factory=dict)
    failed: list[tuple[Setup, NotServing]] = dataclasses.field(default_factory=list)
    differences: list[Difference] = dataclasses.field(default_factory=list)
    not_asked: dict[str, int] = dataclasses.field(default_factory=dict)  # how many requests, of what it cannot answer
    conformities: list[Conformity] = dataclasses.field(default_factory=list)
    mute: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    """What went wrong over the WebSockets of the user's, by each setup that was asked; none where it delivers."""

    @property
    def good(self) -> bool:
        """Whether every setup serves and answers as the reference does, and over WebSockets as is known of it."""
        surprising = any(one.broken or one.unknown for one in self.conformities)
        return not self.failed and not self.differences and not surprising and not any(self.mute.values())


def check(
    names: Sequence[str],
    told: Doing,
    application: Application | None = None,
    requests: Sequence[Request] = REQUESTS,
    host: Host | None = None,
) -> Check:
    """Compares the answers of the setups of these names, of all where none is named.

    The reference is started first, even where it is not named. Setups for WebSockets are not compared with it: they are
    held to RFC 6455. Without an application the sample project is asked.
    ``told`` is told of each setup before it is started. Raises UserError, also for a setup that was named and that
    this machine cannot start; one that was not named is skipped.
    """
    application = application or sample()
    requests = application.addressed(requests)
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
    env = {"CORES": host.allot(os.environ.get("CORES")).servers_list}
    host.require_free(bind, port)
    told("preparing the project")
    application.prepare()
    start = partial(serving, env=env, bind=bind, port=port, application=application, host=host)
    _compare(compared, start, application, told, result)
    for setup in chosen:
        if setup.dialect:
            told(setup.name)
            try:
                with start(setup) as running:
                    result.conformities.append(conformity(running, setup.name, setup.dialect, setup.cannot))
            except NotServing as error:
                result.failed.append((setup, error))
    return result


def _compare(chosen: Sequence[Setup], start: Start, application: Application, told: Doing, result: Check) -> None:
    """Asks each setup in turn and notes what differs from the answers of the first."""
    expected: dict[str, Answer | str] = {}
    for setup in chosen:
        told(setup.name)
        try:
            with start(setup) as running:
                asked = [one for one in result.requests if application.refused(setup, (), [one]) is None]
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
        if len(asked) < len(result.requests):
            result.not_asked[setup.name] = len(result.requests) - len(asked)


def _talk(setup: Setup, running: Serving, application: Application, result: Check) -> None:
    """Sends a message over the WebSockets of the user's, where there are any and the setup has them."""
    own = application.websocket
    if own is None or application.refused(setup, [WEBSOCKET]) is not None:
        return
    request, said = own.request(application.host), own.said_in(Conversation("echo"))
    result.mute[setup.name] = scripted.verified(running, request, said)


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
