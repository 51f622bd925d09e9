"""The cases that decide whether a WebSocket setup can be measured: what to send, and the correct outcomes.

An outcome is a short text from ``loadtests.serve.websocket``, or a pattern of such texts. RFC 6455 lets a server drop a
connection that broke the protocol without a close frame (7.1.7), and limit the size of messages (10.4).
"""

from __future__ import annotations

import dataclasses

from websockets.frames import Close, Frame, Opcode

ELSEWHERE = "http://elsewhere.example"
SAME = "same"  # the server's own origin
ECHOED = "echoed"
PONG = "pong"
OPENED = "opened"
REFUSED = "4??"


@dataclasses.dataclass(frozen=True)
class Opening:
    """A handshake. ``exact`` means that only setups that return messages unchanged, without an envelope, can run it."""

    name: str
    right: tuple[str, ...]
    path: str = ""  # empty means the echo's path
    origin: str | None = SAME
    subprotocols: tuple[str, ...] = ()
    exact: bool = False


@dataclasses.dataclass(frozen=True)
class Exchange:
    """Frames on an open connection.

    Each of ``messages`` is sent in ``frames`` frames with ``between`` after the first, and must come back. Then the
    frames in ``sends`` are sent unchanged.
    """

    name: str
    messages: tuple[str | bytes, ...] = ()
    frames: int = 1
    between: Frame | None = None
    sends: tuple[Frame, ...] = ()
    masked: bool = True
    right: tuple[str, ...] = (ECHOED,)

    @property
    def exact(self) -> bool:
        """Whether only setups that return messages unchanged can run it, because messages in an envelope are text."""
        return any(isinstance(message, bytes) for message in self.messages)


OPENINGS = (
    Opening("a page of another origin", (REFUSED,), origin=ELSEWHERE),
    Opening("no origin, as from no browser", (OPENED,), origin=None),
    Opening("a path that is not there", (REFUSED, "dropped"), path="/nowhere/"),
    Opening("a subprotocol of two", ("opened, echo",), subprotocols=("other", "echo"), exact=True),
)
EXCHANGES = (
    Exchange("text, not ASCII", ("κόσμε, 世界, 🌍",)),
    Exchange("text, 65,536 bytes", ("x" * 65_536,)),
    # Engine.IO accepts nothing above its limit.
    Exchange("text, 1 MB", ("x" * 1_000_000,), right=(ECHOED, "closed 1009", "closed 1000")),
    Exchange("binary", (bytes(range(256)),)),
    Exchange("binary, 1 MB", (bytes(1_000_000),)),
    Exchange("fifty messages at once", tuple(str(number) for number in range(50))),
    Exchange("text in seven frames", ("🌍🌍🌍",), frames=7),
    Exchange("a ping between two frames", ("hello, world",), frames=2, between=Frame(Opcode.PING, b"between")),
    Exchange("ping", sends=(Frame(Opcode.PING, bytes(125)),), right=(PONG,)),
    Exchange("close", sends=(Frame(Opcode.CLOSE, Close(1000, "").serialize()),), right=("closed 1000",)),
    Exchange(
        "a frame without a mask",
        sends=(Frame(Opcode.TEXT, b"hello"),),
        masked=False,
        right=("closed 100[235]", "dropped"),
    ),
)
CASES: tuple[Opening | Exchange, ...] = (*OPENINGS, *EXCHANGES)
