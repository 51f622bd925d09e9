"""Check the contract over WebSockets with short loads: before each trial, and in the command ``check``.

The load generator sends a few messages in the setup's dialect. Each message must return, or reach the receivers in its
room and no other client.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from loadtests.engines.node import NodeGenerator
from loadtests.engines.openloop import ENGINE
from loadtests.plan.kinds.talk import PROTOCOL
from loadtests.records import Result
from loadtests.setups import Setup
from loadtests.workload import Conversation, Load, Request

WITHIN_S = 5.0  # time limit for opening a connection, and for each message
LISTENS_S = 0.1  # the time to wait for messages in wrong rooms
RATE, DURATION_S = 100.0, 0.02  # two messages
# With two processes, all receivers of a room connect to the same process in 1 of 128 cases.
ROOMS, RECEIVERS = 2, 16
LARGE = 65_536  # bytes, which need the longest header of a frame
ELSEWHERE = ("Origin", "http://elsewhere.example")
FORBIDDEN = ("status 401", "status 403")
SHOULD_LET_IN = (
    "; log users in with --login, or set required cookies or headers with --header, and check that "
    "ALLOWED_HOSTS contains the host of the Origin"
)

Talk = tuple[Request, Conversation]


def broken(url: str, request: Request, conversation: Conversation, core: int | None = None) -> list[str]:
    """Check that a setup returns messages and, unless the messages are the user's, delivers them to a room.

    Args:
        url: The setup's address.
        request: The path and the headers of the handshake.
        conversation: The conversation, with the dialect and its prefix or the user's messages.
        core: The core for the load generator.

    Returns:
        A sentence for each failure. The sentences don't contain the values of headers.
    """
    talks = [(request, talk) for talk in _talks(conversation)]
    return list(filter(None, _failures(url, talks, core)))


def broken_cases(url: str, setup: Setup) -> tuple[int, list[str]]:
    """Check the conversations of a setup, a large message, and the refusal of other pages and paths.

    Returns:
        The number of cases and a sentence for each failure.
    """
    good = [*_talks(Conversation("echo", setup.dialect)), Conversation("echo", setup.dialect, size=LARGE)]
    page = Request("a page from another origin", path="/ws/", headers=(ELSEWHERE,))
    wrong = [
        (page, Conversation("connect", setup.dialect)),
        (Request("an unknown path", path="/nowhere/"), Conversation("connect", setup.dialect, prefix="")),
    ]
    failures = _failures(url, [(Request(talk.prefix, path=talk.prefix), talk) for talk in good])
    opened = [
        f"{request.name} can open a WebSocket"
        for (request, _), failure in zip(wrong, _failures(url, wrong), strict=True)
        if failure is None
    ]
    return len(good) + len(wrong), [*filter(None, failures), *opened]


def _talks(conversation: Conversation) -> list[Conversation]:
    """Return the conversations that check the contract."""
    echo = dataclasses.replace(conversation, does="echo", receivers=0, rooms=1, steps=1)
    if conversation.script is not None:
        return [echo]
    return [echo, dataclasses.replace(echo, does="broadcast", receivers=RECEIVERS, rooms=ROOMS)]


def _failures(url: str, talks: Sequence[Talk], core: int | None = None) -> list[str | None]:
    """Run a short load for each conversation, and describe its failure."""
    with ENGINE.generator(core=core) as generator:
        return [_failure(generator, url, *talk) for talk in talks]


def _failure(generator: NodeGenerator, url: str, request: Request, conversation: Conversation) -> str | None:
    load = Load(
        url,
        (request,),
        rate=RATE,
        duration_s=DURATION_S,
        connections=1,
        timeout_s=WITHIN_S,
        listens_s=LISTENS_S,
        protocol=PROTOCOL,
        conversation=conversation,
    )
    prepared = generator.prepare(load, contract=True)
    prepared.measure(load.duration_s)
    why = _reason(prepared.result())
    return why and f"{request.path}: {conversation.does}: {why}"


def _reason(result: Result) -> str | None:
    """Return the reason why a load failed, or None if all messages were answered and delivered."""
    connections, deliveries = result.connections, result.deliveries
    quote = ""
    if connections is not None:
        quote = connections.reason
        if connections.refused + connections.lost:
            return f"{quote}{SHOULD_LET_IN if quote.startswith(FORBIDDEN) else ''}"
    if result.examples:
        return next(iter(result.examples.values()))
    if result.unfinished:
        return f"{result.unfinished} of {result.planned} messages were not answered within {WITHIN_S:g} s{quote}"
    if deliveries is not None and deliveries.missing:
        return f"{deliveries.missing} of {deliveries.expected} deliveries are missing"
    return None
