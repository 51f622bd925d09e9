"""Define the cases that decide whether a WebSocket setup can be measured: the messages and the correct outcomes.

An outcome is a short text from ``loadtests.serve.websocket``, or a pattern for such texts. According to RFC 6455, a
server may drop a connection that violates the protocol without a close frame (7.1.7), and may limit the size of
messages (10.4).
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
    """A handshake. ``exact`` limits the case to setups that return messages unchanged, without an envelope."""

    name: str
    right: tuple[str, ...]
    path: str = ""  # empty means the echo's path
    origin: str | None = SAME
    subprotocols: tuple[str, ...] = ()
    exact: bool = False


@dataclasses.dataclass(frozen=True)
class Exchange:
    """Frames on an open connection.

    Each message is sent in ``frames`` frames, with the frame ``between`` after the first frame, and must be echoed.
    Then the frames in ``sends`` are sent unchanged.
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
        """Whether only setups without an envelope can run the case, because messages in an envelope are text."""
        return any(isinstance(message, bytes) for message in self.messages)


OPENINGS = (
    Opening("a page of another origin", (REFUSED,), origin=ELSEWHERE),
    Opening("no origin, unlike a browser", (OPENED,), origin=None),
    Opening("an unknown path", (REFUSED, "dropped"), path="/nowhere/"),
    Opening("one of two subprotocols", ("opened, echo",), subprotocols=("other", "echo"), exact=True),
)
EXCHANGES = (
    Exchange("text, not ASCII", ("κόσμε, 世界, 🌍",)),
    Exchange("text, 65,536 bytes", ("x" * 65_536,)),
    # Engine.IO refuses messages that exceed its size limit.
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
