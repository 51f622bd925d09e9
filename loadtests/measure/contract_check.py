"""What a setup is held to before it is measured: the contract of a test's requests, and the dialect of its
WebSockets."""

from __future__ import annotations

import dataclasses

from loadtests.measure.bench import Bench
from loadtests.plan.kinds import Test
from loadtests.plan.study import Entry
from loadtests.serve import contract, scripted, signed_in, websocket
from loadtests.serve.base import Server
from loadtests.serve.signed_in import NotSignedIn
from loadtests.workload import Request


def asked(bench: Bench, running: Server, test: Test) -> tuple[Request, ...]:
    """The test's requests as a running setup is asked them beforehand: under the project's host, and by somebody who is
    signed in where its users are. Raises NotSignedIn."""
    requests = bench.application.addressed(test.requests)
    users = bench.load(test, running.url).users
    if users is None or users.sign_in is None:
        return requests
    cookie = signed_in.cookies(running.url, users.sign_in, bench.application.host)
    return tuple(dataclasses.replace(one, headers=(*one.headers, ("Cookie", cookie))) for one in requests)


def verified(bench: Bench, running: Server, test: Test, entry: Entry) -> tuple[list[bytes | None], list[str]]:
    """The bodies that the test's requests are to be answered with under load (see ``contract.verified``), and what is
    not as it should be, in sentences."""
    try:
        requests = asked(bench, running, test)
    except NotSignedIn as error:
        return [], [f"users cannot sign in: {error}"]
    bodies, broken = contract.verified(running, requests, bench.contract[test.name])
    return bodies, [*broken, *broken_dialect(bench, running, test, entry)]


def broken_dialect(bench: Bench, running: Server, test: Test, entry: Entry) -> list[str]:
    """Where the entry's setup does not talk as its dialect says, in sentences; none for a test without WebSockets."""
    load = bench.load(test, running.url, entry=entry)
    conversation = load.conversation
    if conversation is None:
        return []
    if conversation.script is not None:
        [request] = load.requests
        return scripted.verified(running, request, conversation)
    return websocket.verified(running, conversation.dialect, conversation.prefix)
