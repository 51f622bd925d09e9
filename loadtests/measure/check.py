"""Start each setup in turn and compare its answers with the answers of the first setup: ``python -m loadtests check``.

WebSocket setups have their own cases (``loadtests.measure.websocket_contract``). The requests are defined by the
contract of the sample project, or by the user for their own project.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from loadtests import hosts, setups
from loadtests.engines.openloop import ENGINE
from loadtests.errors import UserError, limit_hint
from loadtests.measure import websocket_contract
from loadtests.serve import signed_in
from loadtests.serve.contract import (
    answers,
    describe,
    differing_headers,
    expectation,
    hint,
    meets,
    show_both,
)
from loadtests.serve.http import Answer, common
from loadtests.serve.sample_requests import REQUESTS
from loadtests.serve.serving import NotServing, Serving, serving
from loadtests.setups import WEBSOCKET, Setup, fetching, services
from loadtests.setups.application import Application, sample
from loadtests.setups.application.progress import Announce
from loadtests.setups.needs import missing
from loadtests.workload import Conversation, Request, SignIn
from loadtests.workload.secrets import telling, without_accounts

MIN_FETCH_TIMEOUT_S = 1.0  # so that a short pause of the machine doesn't look like a difference between setups
RECIPE = "fast"  # the origin's recipe, which always gives the same answers
REFERENCE = "gunicorn"  # a WSGI server, because most Django views were written for WSGI

SETTINGS = "settings.json"  # entry/with_settings.py writes this file to RUN_DIR
HASH_SEED = {"PYTHONHASHSEED": "0"}  # so that the order of sets is the same in all processes

Start = Callable[[Setup], AbstractContextManager[Serving]]
Answers = dict[str, Answer | str]  # the answers by request name; a text describes a missing answer


@dataclasses.dataclass(frozen=True)
class Difference:
    """A request that a setup answered differently from the reference, with both answers as text."""

    setup: str
    request: Request
    expected: str
    given: str


@dataclasses.dataclass
class Check:
    """The results of a check.

    Attributes:
        not_asked: The number of requests that weren't sent, by setup.
        websocket_cases: The number of WebSocket test cases and the failures, by setup. A user's project has a single
            case.
        errors: The requests that the user's project answers with a server error or not at all.
        unexpected: The requests that were answered with an unexpected status, this status, and a possible reason.
        settings: The settings that differ from the first setup's settings, by setup.
        varying: The requests that the first setup answers with varying bodies, or differently after a restart.
        logs: The end of the logs of setups with server errors, by setup.
    """

    requests: Sequence[Request]
    compared: list[Setup] = dataclasses.field(default_factory=list)
    skipped: dict[str, str] = dataclasses.field(default_factory=dict)
    failed: list[tuple[Setup, NotServing]] = dataclasses.field(default_factory=list)
    differences: list[Difference] = dataclasses.field(default_factory=list)
    errors: list[tuple[Request, str]] = dataclasses.field(default_factory=list)
    unexpected: list[tuple[Request, int, str]] = dataclasses.field(default_factory=list)
    settings: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    varying: list[Request] = dataclasses.field(default_factory=list)
    logs: dict[str, str] = dataclasses.field(default_factory=dict)
    not_asked: dict[str, int] = dataclasses.field(default_factory=dict)
    websocket_cases: dict[str, tuple[int, list[str]]] = dataclasses.field(default_factory=dict)

    @property
    def compared_nothing(self) -> bool:
        """Whether every answer has an unexpected status, so that neither a view nor a WebSocket was compared."""
        return bool(self.unexpected) and len(self.unexpected) == len(self.requests) and not self.websocket_cases

    @property
    def good(self) -> bool:
        """Whether every setup starts and answers like the reference, also over WebSockets."""
        broken = any(sentences for _, sentences in self.websocket_cases.values())
        return not (self.failed or self.differences or self.errors or self.compared_nothing or broken)


def check(
    found: Sequence[Setup],
    named: Collection[str],
    progress: Announce,
    application: Application | None = None,
    requests: Sequence[Request] = REQUESTS,
    login: SignIn | None = None,
) -> Check:
    """Compare the answers of the setups with the answers of the reference, which is started first.

    Args:
        found: The setups to start. A setup that can't be started is skipped.
        named: The names of setups that must not be skipped.
        progress: Reports the steps.
        application: The application to serve. The default is the sample project.
        requests: The requests to send.
        login: The user who logs in before the requests, if any.

    Raises:
        UserError: If a named setup can't be started on this machine, or a user can't log in to the first setup.
    """
    application = application or sample()
    application = dataclasses.replace(application, writes_settings=application.own)
    requests, needed, knobs = _fetchable(application, requests)
    found = [setup for setup in found if named or not (application.own and setup.dialect)]
    host = hosts.at("local")
    bind, port = setups.bind(), setups.port()
    env = {**host.allot(os.environ.get("CORES")).knobs({}), **HASH_SEED, "BIND": bind, "PORT": str(port)}
    start = partial(serving, application=application, host=host)
    checker = _Checker(application, progress, Check(application.addressed(requests)), login)
    chosen = checker.servable(found, named)
    compared = [setup for setup in chosen if not setup.dialect]
    if compared and not application.own:
        compared.sort(key=lambda setup: setup.name != REFERENCE)
        if compared[0].name != REFERENCE:
            compared = [*setups.find([REFERENCE]), *compared]
    services.require_redis({name for setup in chosen for name in setup.services})
    if application.websocket is not None or any(setup.dialect for setup in chosen):
        ENGINE.require()
    progress("preparing the project")
    application.prepare()
    checker.compare(compared, partial(start, env={**env, **knobs}, services=needed))
    checker.send_cases([setup for setup in chosen if setup.dialect], partial(start, env=env))
    return checker.result


def _fetchable(
    application: Application, requests: Sequence[Request]
) -> tuple[Sequence[Request], Sequence[str], Mapping[str, str]]:
    """Remove requests to views that can't fetch because the origin can't start or HTTP_CLIENT isn't suitable.

    Returns:
        The remaining requests, the services that they need, and the knobs to set for them.

    Raises:
        UserError: If no request is left.
    """
    if application.own:
        return requests, (), {}
    client = os.environ.get("HTTP_CLIENT", "")
    fit = [one for one in requests if all(fetching.fits(one.path, way, client) for way in ("wsgi", "asgi"))]
    if not fit:
        paths = ", ".join(one.path for one in requests)
        raise UserError(f"HTTP_CLIENT={client} doesn't work on both WSGI and ASGI for {paths}. Set another client")
    if not any(fetching.fetches(one.path) for one in fit):
        return fit, (), {}
    if missing(services.known()[fetching.ORIGIN].needs) is not None and not os.environ.get("ORIGIN_URL"):
        return [one for one in fit if not fetching.fetches(one.path)], (), {}
    knobs = {"ORIGIN_RECIPE": RECIPE}
    if (timeout := os.environ.get("FETCH_TIMEOUT")) and float(timeout) < MIN_FETCH_TIMEOUT_S:
        knobs["FETCH_TIMEOUT"] = f"{MIN_FETCH_TIMEOUT_S:g}"
    return fit, [fetching.ORIGIN], knobs


@dataclasses.dataclass(frozen=True)
class _Checker:
    application: Application
    progress: Announce
    result: Check
    login: SignIn | None = None
    first_settings: dict[str, Any] = dataclasses.field(default_factory=dict)

    def servable(self, chosen: Sequence[Setup], named: Collection[str]) -> list[Setup]:
        """Return the setups that can be started on this machine, and record why the other setups are skipped.

        Raises:
            UserError: If a named setup can't be started, or if no setup can be started.
        """
        found = []
        for setup in chosen:
            obstacle = self.application.obstacle(setup)
            if obstacle is None:
                found.append(setup)
            elif setup.name in named and not any(one.variant and one.group == setup.group for one in chosen):
                raise UserError(f"{setup.name}: {obstacle}")
            else:
                self.result.skipped[setup.name] = obstacle
        if not found:
            raise UserError("no setup can be started on this machine: " + "; ".join(self.result.skipped.values()))
        return found

    def compare(self, chosen: Sequence[Setup], start: Start) -> None:
        """Send the requests to each setup, and record the differences from the first setup's answers."""
        application, result = self.application, self.result
        expected: Answers | None = None
        for setup in chosen:
            self.progress(setup.name)
            sent = [one for one in result.requests if application.refused(setup, (), [one]) is None]
            try:
                given = self._answers(setup, sent, start)
                if application.own and expected is None:
                    self._judge(sent, given)
                    if not result.errors and len(chosen) > 1:
                        self.progress(f"{setup.name} again, to find answers that vary between starts")
                        given = self._without_varying(sent, given, self._answers(setup, sent, start))
            except NotServing as error:
                result.failed.append((setup, error))
                if expected is None and not application.own:
                    break  # there are no answers to compare the next setups with
                continue
            expected = given if expected is None else expected
            result.compared.append(setup)
            result.differences += [
                Difference(setup.name, one, *show_both(expected[one.name], given[one.name]))
                for one in sent
                if one.name in expected and not _alike(expected[one.name], given[one.name])
            ]
            if len(sent) < len(result.requests):
                result.not_asked[setup.name] = len(result.requests) - len(sent)
            if result.errors:
                break

    def _answers(self, setup: Setup, sent: Sequence[Request], start: Start) -> Answers:
        """Start a setup and return its answers. Keep the end of its logs if an answer is a server error or missing."""
        with start(setup) as server:
            try:
                login, app = self.login, server.application
                cookies = signed_in.cookies(server.url, login, app, server.ca, most=1) if login else ()
            except signed_in.NotSignedIn as error:
                if self.result.compared or self.result.failed:
                    raise NotServing(f"users can't log in: {error}", server.logs()) from None
                raise UserError(f"{setup.name}: users can't log in: {error}") from None
            given = answers(server, [one.with_cookie(cookies[0]) for one in sent] if cookies else sent)
            self._talk(setup, server, cookies)
            self._compare_settings(setup, server)
            if self.application.own and any(isinstance(one, str) or one.status >= 500 for one in given):
                self.result.logs[setup.name] = server.logs()
        return dict(zip([one.name for one in sent], given, strict=True))

    def _compare_settings(self, setup: Setup, server: Serving) -> None:
        """Record the settings that depend on the server, for example because a project tries to import uwsgi."""
        if not self.application.own or not server.supervised.has(SETTINGS):
            return
        given = dict(_flat(json.loads(server.supervised.read(SETTINGS))))
        if not self.first_settings:
            self.first_settings.update(given)
        first = self.first_settings
        names = [name for name in {**first, **given} if first.get(name) != given.get(name)]
        if names:
            values = [f"{name}: {given.get(name, 'absent')} instead of {first.get(name, 'absent')}" for name in names]
            self.result.settings[setup.name] = [without_accounts(value) for value in values]

    def _judge(self, sent: Sequence[Request], given: Answers) -> None:
        """Record the requests that the user's project answers with an error or an unexpected status."""
        for one in sent:
            answer = given[one.name]
            if isinstance(answer, str) or answer.status >= max(500, one.status + 1):
                self.result.errors.append((one, describe(answer)))
            elif answer.status != one.status:
                self.result.unexpected.append((one, answer.status, hint(one, answer, self.application)))

    def _without_varying(self, sent: Sequence[Request], given: Answers, again: Answers) -> Answers:
        """Return the answers without the parts that differ between two starts of the setup.

        Leave out answers whose status or content type differs between the two starts.
        """
        kept: Answers = {}
        for one in sent:
            first, second = given[one.name], again[one.name]
            if isinstance(first, str) or isinstance(second, str):
                self.result.varying.append(one)
                continue
            if first.status != second.status and (advice := limit_hint(second.status, worked=True)):
                self.result.errors.append((one, f"{describe(second)} after {first.status}{advice}"))
                continue
            if (first.status, first.content_type) != (second.status, second.content_type):
                self.result.varying.append(one)
                continue
            kept[one.name] = answer = common(first, second)
            if answer.varies:
                self.result.varying.append(one)
        return kept

    def _talk(self, setup: Setup, server: Serving, cookies: Sequence[str]) -> None:
        """Send a message over the user's WebSockets, if the project defines any and the setup supports them."""
        own = self.application.websocket
        if own is not None and self.application.refused(setup, [WEBSOCKET]) is None:
            [request] = self.application.addressed([own.request(self.application.host)])
            request = request.with_cookie(cookies[0]) if cookies else request
            conversation = own.scripted(Conversation("echo"))
            broken = websocket_contract.broken(server.url, request, conversation)
            self.result.websocket_cases[setup.name] = 1, broken

    def send_cases(self, chosen: Sequence[Setup], start: Start) -> None:
        """Run the WebSocket test cases of each setup."""
        for setup in chosen:
            self.progress(setup.name)
            try:
                with start(setup) as server:
                    self.result.websocket_cases[setup.name] = websocket_contract.broken_cases(server.url, setup)
            except NotServing as error:
                self.result.failed.append((setup, error))


def _flat(values: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the names and values of nested settings. Each item of a list counts as a setting, too."""
    if isinstance(values, dict):
        for key, value in values.items():
            yield from _flat(value, f"{name} {key}".strip())
    elif isinstance(values, list):
        yield from ((f"{name} {one}", "present") for one in values)
    elif not telling(name):
        yield name, str(values)


def _alike(reference: Answer | str, given: Answer | str) -> bool:
    """Return whether two setups gave equivalent answers, or whether both failed for the same reason."""
    if isinstance(reference, str) or isinstance(given, str):
        return reference == given
    return not differing_headers(reference, given) and meets(given, expectation(reference, own=False))
