"""The contract over WebSockets: ``verified`` before each trial, ``broken_cases`` in ``check``."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase

from websockets.frames import Frame, Opcode

from loadtests.serve.base import Server
from loadtests.serve.dialects import DIALECTS, ELSEWHERE, ROOM, Dialect, handshake
from loadtests.serve.websocket_cases import CASES, SAME, Exchange, Opening
from loadtests.serve.websocket_client import ConnectionEnded, Handshake, Refused, WebsocketClient

PREFIX = "/ws/"
RECEIVERS = 8  # of a room: of two processes, one has none of them in 1 of 128 times
WITHIN_S = 5.0  # for one answer of `verified`
CASE_WITHIN_S = 20.0
WRONG = (Refused, ConnectionEnded, OSError, ValueError)


def verified(running: Server, dialect: str, prefix: str = PREFIX) -> list[str]:
    """What is not as it should be when a setup echoes a message, and when one is published in a room (all who are in it
    get it, and nobody else), in sentences.

    ``dialect`` is what it speaks below ``prefix``: a word of ``loadtests.serve.dialects.DIALECTS``.
    """
    spoken = DIALECTS[dialect]
    broken = []
    for endpoint, check in (("echo", _echoes), (f"rooms/{ROOM}", _delivers)):
        path = spoken.path(prefix, endpoint)
        try:
            check(running, spoken, prefix)
        except WRONG as error:
            broken.append(f"{path}: {error or type(error).__name__}")
    return broken


def _opened(running: Server, spoken: Dialect, prefix: str, endpoint: str) -> WebsocketClient:
    """A connection to an endpoint that is ready. Raises what ``WebsocketClient`` and ``Dialect.ready`` raise."""
    client = WebsocketClient(running.url, handshake(spoken, prefix, endpoint, running.url), WITHIN_S)
    try:
        spoken.ready(client, endpoint)
    except BaseException:
        client.close()
        raise
    return client


def _echoes(running: Server, spoken: Dialect, prefix: str) -> None:
    with _opened(running, spoken, prefix, "echo") as client:
        client.send_text(spoken.asking("contract:1:"))
        _require(client, spoken, "the echo", "contract:1:")


def _delivers(running: Server, spoken: Dialect, prefix: str) -> None:
    with contextlib.ExitStack() as stack:

        def opened(endpoint: str) -> WebsocketClient:
            return stack.enter_context(_opened(running, spoken, prefix, endpoint))

        receivers = [opened(f"rooms/{ROOM}") for _ in range(RECEIVERS)]
        stranger = opened(f"rooms/{ELSEWHERE}")
        publisher = opened(f"publish/{ROOM}")
        for payload in ("contract:1:", "contract:2:"):
            publisher.send_text(spoken.publishing(payload))
            _require(publisher, spoken, "the answer to a publish")
            for receiver in receivers:
                _require(receiver, spoken, "a delivery", payload)
        # Of all this a stranger hears nothing: the first that it hears is what is published where it is.
        opened(f"publish/{ELSEWHERE}").send_text(spoken.publishing("contract:3:", ELSEWHERE))
        _require(stranger, spoken, "a delivery in another room", "contract:3:")


def _require(client: WebsocketClient, spoken: Dialect, what: str, payload: str | None = None) -> None:
    """Waits for a message with this payload; without one, for that which says that a publish was taken. Raises
    ValueError for a message with another payload, and where none comes. What the protocol says for itself is passed
    over."""
    end = time.monotonic() + WITHIN_S
    while time.monotonic() < end:
        with contextlib.suppress(TimeoutError):
            said = client.text()
            found = spoken.payload(said)
            if spoken.taken(said) if payload is None else found == payload:
                return
            if found is not None:
                raise ValueError(f"{what} is wrong: {found[:80]!r}")
    raise ValueError(f"{what} did not come within {WITHIN_S:g} s")


def broken_cases(running: Server, dialect: str, cannot: Sequence[str] = ()) -> tuple[int, list[str]]:
    """How many cases a setup of this dialect was asked, and what went wrong in them, in sentences."""
    spoken = DIALECTS[dialect]
    cases = [case for case in CASES if spoken.exact or not case.exact]
    broken = []
    for case in cases:
        found = outcome(running, spoken, case)
        if not any(fnmatchcase(found, pattern) for pattern in case.right):
            broken.append(f"{case.name}: {found}; {' or '.join(case.right)} is right")
    broken += verified(running, dialect)
    if dialect == "plain":
        others = (("sync-consumer", "plain", "/ws/sync/"), ("json-consumer", "json", "/ws/json/"))
        for word, other, prefix in others:
            if word not in cannot:
                broken += verified(running, other, prefix)
    return len(cases), broken


def outcome(running: Server, spoken: Dialect, case: Opening | Exchange) -> str:
    """What becomes of a case, in a few words."""
    if isinstance(case, Opening):
        return _opening(running.url, spoken, case)
    try:
        with _opened(running, spoken, PREFIX, "echo") as client:
            return _exchange(client, spoken, case)
    except WRONG as error:
        return f"not opened: {error or type(error).__name__}"


def _opening(url: str, spoken: Dialect, case: Opening) -> str:
    """``opened``, with the subprotocol that was agreed on; the status; ``dropped`` or ``silent``."""
    path = case.path or spoken.path(PREFIX, "echo")
    origin = url if case.origin == SAME else case.origin
    subprotocols = case.subprotocols or spoken.subprotocols()
    try:
        with WebsocketClient(url, Handshake(path, origin, subprotocols)) as client:
            return f"opened, {client.subprotocol}" if case.subprotocols and client.subprotocol else "opened"
    except Refused as refused:
        return str(refused.status or "dropped")
    except TimeoutError:
        return "silent"
    except OSError:
        return "dropped"


def _exchange(client: WebsocketClient, spoken: Dialect, case: Exchange) -> str:
    """``echoed`` or ``pong`` where all came back; ``closed CODE``, ``dropped``; ``silent``; ``something else``."""
    frames = [frame for message in case.messages for frame in _frames(spoken, message, case)]
    client.timeout_s = CASE_WITHIN_S
    client.send(*frames, *case.sends, masked=case.masked)
    messages = list(case.messages)
    pings = [bytes(frame.data) for frame in (*frames, *case.sends) if frame.opcode is Opcode.PING]
    awaits_end = not messages and not pings
    try:
        while messages or pings or awaits_end:
            opcode, payload = client.next()
            if opcode is Opcode.PONG:
                pings.remove(payload)
            elif (message := payload if opcode is Opcode.BINARY else spoken.payload(payload.decode())) is not None:
                messages.remove(message)
    except ConnectionEnded as ended:
        return f"closed {ended.code}" if ended.code else "dropped"
    except TimeoutError:
        return "silent"
    except (OSError, ValueError):
        return "something else"
    return "echoed" if case.messages else "pong"


def _frames(spoken: Dialect, message: str | bytes, case: Exchange) -> list[Frame]:
    opcode = Opcode.BINARY if isinstance(message, bytes) else Opcode.TEXT
    whole = message if isinstance(message, bytes) else spoken.asking(message).encode()
    bounds = [len(whole) * number // case.frames for number in range(case.frames + 1)]
    pieces = [whole[start:end] for start, end in itertools.pairwise(bounds)]
    last = len(pieces) - 1
    found = [Frame(Opcode.CONT if number else opcode, piece, number == last) for number, piece in enumerate(pieces)]
    return [found[0], case.between, *found[1:]] if case.between else found
