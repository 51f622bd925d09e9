"""Check the contract over WebSockets: ``verified`` before each trial, and ``broken_cases`` in the command ``check``."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase

from websockets.frames import Frame, Opcode

from loadtests.serve.dialects import DIALECTS, ELSEWHERE, ROOM, Dialect, handshake
from loadtests.serve.serving import Serving
from loadtests.serve.websocket_cases import CASES, SAME, Exchange, Opening
from loadtests.serve.websocket_client import ConnectionEnded, Handshake, Refused, WebsocketClient

PREFIX = "/ws/"
RECEIVERS = 8  # with two processes, all receivers of a room connect to the same process in 1 of 128 cases
WITHIN_S = 5.0  # time limit for an answer in ``verified``
CASE_WITHIN_S = 20.0
WRONG = (Refused, ConnectionEnded, OSError, ValueError)


def verified(running: Serving, name: str, prefix: str = PREFIX) -> list[str]:
    """Check that a setup echoes a message, and delivers a published message only to the receivers in its room.

    Args:
        running: The running setup to check.
        name: The dialect that the setup uses.
        prefix: The prefix of the WebSocket paths.

    Returns:
        A sentence for each failure.
    """
    dialect = DIALECTS[name]
    broken = []
    for endpoint, check in (("echo", _require_echo), (f"rooms/{ROOM}", _require_deliveries)):
        try:
            check(running, dialect, prefix)
        except WRONG as error:
            broken.append(f"{dialect.path(prefix, endpoint)}: {error or type(error).__name__}")
    return broken


def _opened(running: Serving, dialect: Dialect, prefix: str, endpoint: str) -> WebsocketClient:
    """Open a connection to an endpoint, and wait until it is ready."""
    client = WebsocketClient(running.url, handshake(dialect, prefix, endpoint, running.url), WITHIN_S)
    try:
        dialect.ready(client, endpoint)
    except BaseException:
        client.close()
        raise
    return client


def _require_echo(running: Serving, dialect: Dialect, prefix: str) -> None:
    with _opened(running, dialect, prefix, "echo") as client:
        client.send_text(dialect.echo_request("contract:1:"))
        _require_message(client, dialect, "the echo", "contract:1:")


def _require_deliveries(running: Serving, dialect: Dialect, prefix: str) -> None:
    with contextlib.ExitStack() as stack:

        def opened(endpoint: str) -> WebsocketClient:
            return stack.enter_context(_opened(running, dialect, prefix, endpoint))

        receivers = [opened(f"rooms/{ROOM}") for _ in range(RECEIVERS)]
        outsider = opened(f"rooms/{ELSEWHERE}")
        publisher = opened(f"publish/{ROOM}")
        for payload in ("contract:1:", "contract:2:"):
            publisher.send_text(dialect.publish_request(payload))
            _require_message(publisher, dialect, "the answer to a publish")
            for receiver in receivers:
                _require_message(receiver, dialect, "a delivery", payload)
        # The first message of a receiver in another room must be the message that is published in its own room.
        opened(f"publish/{ELSEWHERE}").send_text(dialect.publish_request("contract:3:", ELSEWHERE))
        _require_message(outsider, dialect, "a delivery in another room", "contract:3:")


def _require_message(client: WebsocketClient, dialect: Dialect, what: str, payload: str | None = None) -> None:
    """Wait for a message with this payload. If the payload is None, wait for the acknowledgement of a publish.

    Messages of the protocol itself are ignored.

    Raises:
        ValueError: If another payload or no message arrives.
    """
    end = time.monotonic() + WITHIN_S
    while time.monotonic() < end:
        with contextlib.suppress(TimeoutError):
            message = client.text()
            found = dialect.payload(message)
            if dialect.is_published(message) if payload is None else found == payload:
                return
            if found is not None:
                raise ValueError(f"{what} is wrong: {found[:80]!r}")
    raise ValueError(f"{what} did not arrive within {WITHIN_S:g} s")


def broken_cases(running: Serving, name: str, cannot: Sequence[str] = ()) -> tuple[int, list[str]]:
    """Run all cases on a setup with this dialect. Return the number of cases and a sentence for each failure."""
    dialect = DIALECTS[name]
    cases = [case for case in CASES if dialect.exact or not case.exact]
    broken = []
    for case in cases:
        found = outcome(running, dialect, case)
        if not any(fnmatchcase(found, pattern) for pattern in case.right):
            broken.append(f"{case.name}: {found} instead of {' or '.join(case.right)}")
    broken += verified(running, name)
    if name == "plain":
        others = (("sync-consumer", "plain", "/ws/sync/"), ("json-consumer", "json", "/ws/json/"))
        for word, other, prefix in others:
            if word not in cannot:
                broken += verified(running, other, prefix)
    return len(cases), broken


def outcome(running: Serving, dialect: Dialect, case: Opening | Exchange) -> str:
    """Run a case and describe its outcome."""
    if isinstance(case, Opening):
        return _opening(running.url, dialect, case)
    try:
        with _opened(running, dialect, PREFIX, "echo") as client:
            return _exchange(client, dialect, case)
    except WRONG as error:
        return f"not opened: {error or type(error).__name__}"


def _opening(url: str, dialect: Dialect, case: Opening) -> str:
    """Return the outcome of a handshake: ``opened`` with the subprotocol, the status, ``dropped`` or ``silent``."""
    path = case.path or dialect.path(PREFIX, "echo")
    origin = url if case.origin == SAME else case.origin
    subprotocols = case.subprotocols or dialect.subprotocols()
    try:
        with WebsocketClient(url, Handshake(path, origin, subprotocols)) as client:
            return f"opened, {client.subprotocol}" if case.subprotocols and client.subprotocol else "opened"
    except Refused as refused:
        return str(refused.status or "dropped")
    except TimeoutError:
        return "silent"
    except OSError:
        return "dropped"


def _exchange(client: WebsocketClient, dialect: Dialect, case: Exchange) -> str:
    """Return the outcome of an exchange.

    The outcome is ``echoed`` or ``pong`` if all messages came back, or else ``closed CODE``, ``dropped``, ``silent`` or
    ``something else``.
    """
    frames = [frame for message in case.messages for frame in _frames(dialect, message, case)]
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
            elif (message := payload if opcode is Opcode.BINARY else dialect.payload(payload.decode())) is not None:
                messages.remove(message)
    except ConnectionEnded as ended:
        return f"closed {ended.code}" if ended.code else "dropped"
    except TimeoutError:
        return "silent"
    except (OSError, ValueError):
        return "something else"
    return "echoed" if case.messages else "pong"


def _frames(dialect: Dialect, message: str | bytes, case: Exchange) -> list[Frame]:
    opcode = Opcode.BINARY if isinstance(message, bytes) else Opcode.TEXT
    whole = message if isinstance(message, bytes) else dialect.echo_request(message).encode()
    bounds = [len(whole) * number // case.frames for number in range(case.frames + 1)]
    pieces = [whole[start:end] for start, end in itertools.pairwise(bounds)]
    last = len(pieces) - 1
    found = [Frame(Opcode.CONT if number else opcode, piece, number == last) for number, piece in enumerate(pieces)]
    return [found[0], case.between, *found[1:]] if case.between else found
