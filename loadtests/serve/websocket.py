"""The contract over WebSockets. ``verified`` is asked before each trial; ``conformity`` is asked by ``check``, and
holds a setup to RFC 6455 case by case."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import json
import time
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from loadtests.serve.base import Server
from loadtests.serve.dialects import DIALECTS, ELSEWHERE, ROOM, Dialect, handshake
from loadtests.serve.frames import (
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    Client,
    ConnectionEnded,
    Handshake,
    Refused,
    WireFrame,
)
from loadtests.serve.rfc6455 import EXCHANGES, OPENINGS, Exchange, Opening, Say

KNOWN = Path(__file__).with_name("websocket_outcomes.json")
PREFIX = "/ws/"
RECEIVERS = 8  # of a room: of two processes, one has none of them in 1 of 128 times
WITHIN_S = 5.0  # for one answer of `verified`
PATIENCE = 1.0  # of what a case has
SENTINEL = b"and now?"
AFTER_S = 0.7  # for a close frame after the sentinel was answered
WRONG = (Refused, ConnectionEnded, OSError, ValueError)


# Before each trial


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


def _opened(running: Server, spoken: Dialect, prefix: str, endpoint: str) -> Client:
    """A connection to an endpoint that is ready. Raises what ``Client`` and ``Dialect.ready`` raise."""
    client = Client(running.url, handshake(spoken, prefix, endpoint, running.url), WITHIN_S)
    try:
        spoken.ready(client, endpoint)
    except BaseException:
        client.close()
        raise
    return client


def _echoes(running: Server, spoken: Dialect, prefix: str) -> None:
    with _opened(running, spoken, prefix, "echo") as client:
        client.say(spoken.asking("contract:1:"))
        _require(client, spoken, "the echo", "contract:1:")


def _delivers(running: Server, spoken: Dialect, prefix: str) -> None:
    with contextlib.ExitStack() as stack:

        def opened(endpoint: str) -> Client:
            return stack.enter_context(_opened(running, spoken, prefix, endpoint))

        receivers = [opened(f"rooms/{ROOM}") for _ in range(RECEIVERS)]
        stranger = opened(f"rooms/{ELSEWHERE}")
        publisher = opened(f"publish/{ROOM}")
        for payload in ("contract:1:", "contract:2:"):
            publisher.say(spoken.publishing(payload))
            _require(publisher, spoken, "the answer to a publish")
            for receiver in receivers:
                _require(receiver, spoken, "a delivery", payload)
        # Of all this a stranger hears nothing: the first that it hears is what is published where it is.
        opened(f"publish/{ELSEWHERE}").say(spoken.publishing("contract:3:", ELSEWHERE))
        _require(stranger, spoken, "a delivery in another room", "contract:3:")


def _require(client: Client, spoken: Dialect, what: str, payload: str | None = None) -> None:
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


# RFC 6455


@dataclasses.dataclass(frozen=True)
class Conformity:
    """What a setup did in each case that it was asked, by the case's name; ``broken`` has sentences of ``verified``."""

    setup: str
    outcomes: Mapping[str, str]
    broken: Sequence[str] = ()

    @property
    def differences(self) -> list[Opening | Exchange]:
        """The cases in which it did not do what the RFC says."""
        return [case for case in CASES.values() if case.name in self.outcomes and not right(case, self.outcomes)]

    @property
    def unknown(self) -> list[Opening | Exchange]:
        """Those of them that nobody has seen of this setup before."""
        seen = known().get(self.setup, {})
        return [case for case in self.differences if seen.get(case.name) != self.outcomes[case.name]]


ALL: tuple[Opening | Exchange, ...] = (*OPENINGS, *EXCHANGES)
CASES = {case.name: case for case in ALL}


def right(case: Opening | Exchange, outcomes: Mapping[str, str]) -> bool:
    """Whether the outcome of a case is one of those that are right."""
    return any(fnmatchcase(outcomes[case.name], pattern) for pattern in case.right)


@functools.cache
def known() -> dict[str, dict[str, str]]:
    """The outcomes that the documentation shows, by setup and case: those of a run of ``check --record``."""
    found: dict[str, dict[str, str]] = json.loads(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else {}
    return found


def record(found: Sequence[Conformity]) -> None:
    """Keeps the outcomes for the documentation, and as what is known from now on; those of other setups stay."""
    outcomes = {**known(), **{one.setup: dict(one.outcomes) for one in found}}
    KNOWN.write_text(json.dumps(dict(sorted(outcomes.items())), indent=1) + "\n", encoding="utf-8")
    known.cache_clear()


def conformity(running: Server, setup: str, dialect: str, cannot: Sequence[str] = ()) -> Conformity:
    """What the setup of this name, which speaks the dialect, does in each case; and what else is amiss."""
    spoken = DIALECTS[dialect]
    asked = [case for case in CASES.values() if spoken.exact or not case.exact]
    outcomes = {case.name: outcome(running, spoken, case) for case in asked}
    spokens = [(dialect, PREFIX)]
    if dialect == "plain":
        others = (("sync-consumer", "plain", "/ws/sync/"), ("json-consumer", "json", "/ws/json/"))
        spokens += [(other, prefix) for word, other, prefix in others if word not in cannot]
    broken = [sentence for other, prefix in spokens for sentence in verified(running, other, prefix)]
    return Conformity(setup, outcomes, broken)


def outcome(running: Server, spoken: Dialect, case: Opening | Exchange) -> str:
    """What becomes of a case, in a few words."""
    if isinstance(case, Opening):
        wanted = handshake(spoken, PREFIX, case.endpoint, running.url)
        return _opening(running.url, spoken, dataclasses.replace(wanted, **case.change))
    try:
        with _opened(running, spoken, PREFIX, "echo") as client:
            client.timeout_s = case.within_s * PATIENCE
            return _exchange(client, spoken, case)
    except WRONG as error:
        return f"not asked: {error or type(error).__name__}"


def _opening(url: str, spoken: Dialect, wanted: Handshake) -> str:
    """``opened``, with what was agreed on; the status; ``dropped`` or ``silent``."""
    try:
        with Client(url, wanted) as client:
            subprotocol = client.subprotocol if client.subprotocol not in spoken.subprotocols() else ""
            return ", ".join(filter(None, ["opened", subprotocol, client.extensions.partition(";")[0]]))
    except Refused as refused:
        return str(refused.status or "dropped")
    except TimeoutError:
        return "silent"
    except OSError:
        return "dropped"


def _exchange(client: Client, spoken: Dialect, case: Exchange) -> str:
    """``echoed`` or ``pong`` where all came back, ``out of order`` where it did so; ``closed CODE``, ``dropped``;
    ``went on`` where the server let it pass or sent nothing back, ``silent`` where it did not even answer a ping after
    it; ``something else``."""
    frames = [frame for step in case.sends for frame in _frames(spoken, step)]
    closing = any(frame.opcode == CLOSE for frame in frames)
    client.send(*frames, *([] if closing else [WireFrame(PING, SENTINEL)]))
    said = [step.payload for step in case.sends if isinstance(step, Say)]
    pinged = [frame.payload for frame in frames if frame.opcode == PING]
    heard, in_order = False, True
    end = time.monotonic() + case.within_s * PATIENCE
    try:
        while time.monotonic() < end and not (heard and not said and not pinged and case.answered):
            opcode, payload = client.next()
            if opcode == PONG and payload == SENTINEL:
                heard = True
                if not said:
                    # A close frame may come after it: the server had both frames before it looked into the first.
                    end = min(end, time.monotonic() + AFTER_S * PATIENCE)
                    client.timeout_s = AFTER_S * PATIENCE
            elif opcode == PONG:
                pinged = pinged[1:] if pinged and payload == pinged[0] else pinged
            elif not case.says:
                heard = heard or spoken.payload(payload.decode("utf-8", "replace")) is not None
            elif (found := _payload(spoken, opcode, payload)) is not None:
                if found not in said:
                    return "something else"
                in_order = in_order and found == said[0]
                said.remove(found)
    except ConnectionEnded as ended:
        return f"closed {ended.code}" if ended.code else "dropped"
    except TimeoutError:
        pass
    except (OSError, ValueError):
        return "something else"
    if not heard:
        return "silent"
    if said or pinged or not case.answered:
        return "went on"
    if not case.says:
        return "pong"
    return "echoed" if in_order else "out of order"


def _payload(spoken: Dialect, opcode: int, payload: bytes) -> str | bytes | None:
    """The payload of an echo; None for a message of another kind."""
    if opcode == BINARY:
        return payload
    return spoken.payload(payload.decode())


def _frames(spoken: Dialect, step: Say | WireFrame) -> list[WireFrame]:
    """The frames of a step."""
    if isinstance(step, WireFrame):
        return [step]
    opcode = BINARY if isinstance(step.payload, bytes) else TEXT
    whole = step.payload if isinstance(step.payload, bytes) else spoken.asking(step.payload).encode()
    size = -(-len(whole) // step.frames)
    bounds = [*range(0, max(len(whole), 1), max(size, 1)), len(whole)]
    pieces = [whole[start:end] for start, end in itertools.pairwise(bounds)]
    found = [
        WireFrame(opcode if number == 0 else CONTINUATION, piece, fin=number == len(pieces) - 1)
        for number, piece in enumerate(pieces)
    ]
    return [found[0], step.between, *found[1:]] if step.between else found
