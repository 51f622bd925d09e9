"""What a setup is held to before it is measured: the contract of a test's requests, and the dialect of its
WebSockets."""

from __future__ import annotations

from loadtests.measure.bench import Bench
from loadtests.plan.kinds import Test
from loadtests.plan.study import Entry
from loadtests.serve import contract, scripted, websocket
from loadtests.serve.base import Server


def verified(bench: Bench, running: Server, test: Test, entry: Entry) -> tuple[list[bytes | None], list[str]]:
    """The bodies that the test's requests are to be answered with under load (see ``contract.verified``), and what is
    not as it should be, in sentences."""
    requests = bench.application.addressed(test.requests)
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
