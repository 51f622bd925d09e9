"""The contract that a setup must meet before it is measured: of a test's requests, and of its WebSockets' dialect."""

from __future__ import annotations

import dataclasses

from loadtests.measure.bench import Bench
from loadtests.plan.kinds import Test
from loadtests.plan.study import Entry
from loadtests.serve import contract, scripted, signed_in, websocket
from loadtests.serve.base import Server
from loadtests.serve.signed_in import NotSignedIn
from loadtests.workload import Request


def requests_of(bench: Bench, server: Server, test: Test) -> tuple[Request, ...]:
    """The test's requests, for the project's host, and signed in where its users are. Raises NotSignedIn."""
    requests = bench.application.addressed(test.requests)
    users = bench.load(test, server.url).users
    if users is None or users.sign_in is None:
        return requests
    cookie = signed_in.cookies(server.url, users.sign_in, bench.application.host)
    return tuple(dataclasses.replace(one, headers=(*one.headers, ("Cookie", cookie))) for one in requests)


def verified(bench: Bench, server: Server, test: Test, entry: Entry) -> tuple[list[bytes | None], list[str]]:
    """The bodies that the test's requests must be answered with under load, and all differences from the contract, in
    sentences."""
    try:
        requests = requests_of(bench, server, test)
    except NotSignedIn as error:
        return [], [f"users cannot sign in: {error}"]
    bodies, broken = contract.verified(server, requests, bench.contract[test.name])
    return bodies, [*broken, *broken_dialect(bench, server, test, entry)]


def broken_dialect(bench: Bench, server: Server, test: Test, entry: Entry) -> list[str]:
    """Where the entry's setup does not follow its WebSocket dialect, in sentences."""
    load = bench.load(test, server.url, entry=entry)
    if (conversation := load.conversation) is None:
        return []
    if conversation.script is not None:
        [request] = load.requests
        return scripted.verified(server, request, conversation)
    return websocket.verified(server, conversation.dialect, conversation.prefix)
