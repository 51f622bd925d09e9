"""The cases of RFC 6455 that every WebSocket setup is asked, as data: what is sent, and which outcomes are right.

An outcome is a few words (``loadtests.serve.websocket`` has them); those that are right may be patterns as a shell has
them. Where the RFC demands that a connection is failed, a close frame is what an endpoint SHOULD send (7.1.7): one that
is dropped without it is right as well.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Mapping
from typing import Any

from loadtests.serve.frames import CLOSE, CONTINUATION, PING, PONG, TEXT, WireFrame

ECHOED = "echoed"
PONGED = "pong"
PROTOCOL_ERROR = ("closed 1002", "dropped")
NOT_UTF8 = ("closed 1007", "dropped")
NOT_LARGER = ("closed 1009", "dropped")  # a limit of the server's, which it may have (10.4)
OPENED = "opened"
REFUSED = "4??"

MB = 1_000_000
QUICK_S = 4.0
SLOW_S = 20.0


@dataclasses.dataclass(frozen=True)
class Opening:
    """A handshake that is changed, ``change``, in fields of ``loadtests.serve.frames.Handshake``, and asks for an
    ``endpoint``. ``exact`` ones are asked only of setups that send back what they get, without an envelope."""

    section: str
    name: str
    change: Mapping[str, Any]
    right: tuple[str, ...]
    endpoint: str = "echo"
    exact: bool = False


@dataclasses.dataclass(frozen=True)
class Say:
    """A message that is to be sent back, in so many frames; ``between`` is sent after the first of them."""

    payload: str | bytes
    frames: int = 1
    between: WireFrame | None = None


@dataclasses.dataclass(frozen=True)
class Exchange:
    """What is sent on an open connection, in this order."""

    section: str
    name: str
    sends: tuple[Say | WireFrame, ...]
    right: tuple[str, ...] = (ECHOED,)
    within_s: float = QUICK_S

    @property
    def says(self) -> bool:
        """Whether it sends messages that are to come back."""
        return any(isinstance(step, Say) for step in self.sends)

    @property
    def answered(self) -> bool:
        """Whether it asks for an echo or a pong, and not for an end."""
        return bool({ECHOED, PONGED} & set(self.right))

    @property
    def exact(self) -> bool:
        """Whether it takes a setup that sends back what it gets, binary as well."""
        return any(isinstance(step, Say) and isinstance(step.payload, bytes) for step in self.sends)


def close(code: int, reason: bytes = b"") -> WireFrame:
    """A close frame."""
    return WireFrame(CLOSE, struct.pack("!H", code) + reason)


def text(payload: bytes, **more: Any) -> WireFrame:
    """A frame with text, which need not be right."""
    return WireFrame(TEXT, payload, **more)


STILL = Say("still there")

OPENINGS = (
    Opening("4.1", "the handshake as it should be", {}, (OPENED,)),
    Opening(
        "4.2.1",
        "other tokens and other case",
        {"headers": (("Upgrade", "WebSocket"), ("Connection", "keep-alive, Upgrade"))},
        (OPENED,),
    ),
    Opening("4.2.1", "without a key", {"without": ("Sec-WebSocket-Key",)}, (REFUSED,)),
    Opening("4.1", "POST", {"method": "POST"}, (REFUSED,)),
    Opening("4.4", "version 8", {"headers": (("Sec-WebSocket-Version", "8"),)}, (REFUSED,)),
    Opening("4.2.2", "a path that is not there", {"path": "/nowhere/"}, (REFUSED,)),
    Opening("4.2.2", "refused by the application", {}, ("403",), "refused", exact=True),
    Opening("10.2", "a foreign origin", {"origin": "http://elsewhere.example"}, (REFUSED,)),
    Opening("10.2", "no origin, as from no browser", {"origin": None}, (OPENED,)),
    Opening("4.2.2", "a subprotocol of two", {"subprotocols": ("other", "echo")}, ("opened, echo",), exact=True),
    Opening("4.2.2", "a subprotocol that nobody speaks", {"subprotocols": ("other",)}, (OPENED, REFUSED), exact=True),
    Opening("9.1", "an extension that nobody knows", {"headers": (("Sec-WebSocket-Extensions", "x-none"),)}, (OPENED,)),
    Opening(
        "9.1",
        "compression offered (RFC 7692)",
        {"headers": (("Sec-WebSocket-Extensions", "permessage-deflate"),)},
        (OPENED, "opened, permessage-deflate"),
    ),
)

MESSAGES = (
    Exchange("5.6", "text", (Say("hello"),)),
    Exchange("5.6", "text, empty", (Say(""),)),
    Exchange("5.6", "text, not ASCII", (Say("κόσμε, 世界, 🌍"),)),
    Exchange("5.2", "text, 125 bytes", (Say("x" * 125),)),
    Exchange("5.2", "text, 126 bytes", (Say("x" * 126),)),
    Exchange("5.2", "text, 65,535 bytes", (Say("x" * 65535),)),
    Exchange("5.2", "text, 65,536 bytes", (Say("x" * 65536),)),
    Exchange("10.4", "text, 1 MB", (Say("x" * MB),), (ECHOED, *NOT_LARGER), SLOW_S),
    Exchange("10.4", "text, 10 MB", (Say("x" * 10 * MB),), (ECHOED, *NOT_LARGER), SLOW_S),
    Exchange("5.6", "binary", (Say(bytes(range(256))),)),
    Exchange("5.6", "binary, empty", (Say(b""),)),
    Exchange("10.4", "binary, 1 MB", (Say(bytes(MB)),), (ECHOED, *NOT_LARGER), SLOW_S),
    Exchange("10.4", "binary, 10 MB", (Say(bytes(10 * MB)),), (ECHOED, *NOT_LARGER), SLOW_S),
    Exchange("5.1", "fifty messages at once", tuple(Say(str(number)) for number in range(50))),
    Exchange("5.4", "text in three frames", (Say("hello, world", 3),)),
    Exchange("5.4", "text in a hundred frames", (Say("x" * 1000, 100),)),
    Exchange("5.4", "binary in two frames", (Say(bytes(range(256)), 2),)),
    Exchange("5.4", "a ping between two frames", (Say("hello, world", 2, WireFrame(PING, b"between")),)),
    Exchange("8.1", "a character in two frames", (Say("🌍🌍🌍", 7),)),
)

CONTROL = (
    Exchange("5.5.2", "ping, empty", (WireFrame(PING),), (PONGED,)),
    Exchange("5.5.2", "ping, 125 bytes", (WireFrame(PING, bytes(125)),), (PONGED,)),
    Exchange("5.5.3", "a pong that nobody asked for", (WireFrame(PONG, b"alive"), STILL)),
    Exchange("5.5", "ping, 126 bytes", (WireFrame(PING, bytes(126)),), PROTOCOL_ERROR),
    Exchange(
        "5.5", "ping in two frames", (WireFrame(PING, b"a", fin=False), WireFrame(CONTINUATION, b"b")), PROTOCOL_ERROR
    ),
    Exchange("5.5", "close, 126 bytes", (close(1000, bytes(124)),), PROTOCOL_ERROR),
)

CLOSING = (
    # The answer has "typically" the same code (5.5.1).
    *(
        Exchange("7.4", f"close with {code}", (close(code),), (f"closed {code}", "closed 1000"))
        for code in (1000, 1001, 1011, 3000, 3999, 4000, 4999)
    ),
    Exchange("7.1.5", "close without a code", (WireFrame(CLOSE),), ("closed 1005", "closed 1000")),
    Exchange("5.5.1", "close with a reason of 123 bytes", (close(1000, b"x" * 123),), ("closed 1000",)),
    Exchange("5.5.1", "close with one byte", (WireFrame(CLOSE, b"x"),), PROTOCOL_ERROR),
    Exchange("5.5.1", "close with a reason that is not UTF-8", (close(1000, b"\xff"),), (*NOT_UTF8, "closed 1002")),
    *(
        Exchange("7.4.1", f"close with {code}, which may not be sent", (close(code),), PROTOCOL_ERROR)
        for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000)
    ),
    Exchange("5.5.1", "a message after close", (close(1000), text(b"late")), ("closed 1000",)),
)

VIOLATIONS = (
    *(
        Exchange("5.2", f"reserved bit {bit}", (text(b"x", rsv=rsv),), PROTOCOL_ERROR)
        for bit, rsv in ((1, 4), (2, 2), (3, 1))
    ),
    Exchange("5.2", "reserved bit 1 on a ping", (WireFrame(PING, b"x", rsv=4),), PROTOCOL_ERROR),
    *(Exchange("5.2", f"opcode {code}", (WireFrame(code, b"x"),), PROTOCOL_ERROR) for code in (3, 7, 11, 15)),
    Exchange("5.1", "a frame that is not masked", (text(b"hello", masked=False),), PROTOCOL_ERROR),
    Exchange("5.4", "a continuation of nothing", (WireFrame(CONTINUATION, b"x"),), PROTOCOL_ERROR),
    Exchange("5.4", "a message within another", (text(b"one", fin=False), text(b"two")), PROTOCOL_ERROR),
    Exchange(
        "5.2",
        "a length in more bytes than it takes",
        (text(b"hello", head=struct.pack("!BBH", 0x81, 0x80 | 126, 5)),),
        PROTOCOL_ERROR,
    ),
    Exchange(
        "5.2",
        "a length of over 63 bits",
        (text(b"", head=struct.pack("!BBQ", 0x81, 0x80 | 127, 1 << 63)),),
        (*PROTOCOL_ERROR, "closed 1009"),
    ),
    Exchange("8.1", "text that is not UTF-8", (text(b"\xff\xfe"),), NOT_UTF8),
    Exchange("8.1", "text with a surrogate", (text(b"\xed\xa0\x80"),), NOT_UTF8),
    Exchange("8.1", "text, overlong", (text(b"\xc0\xaf"),), NOT_UTF8),
    Exchange("8.1", "text beyond U+10FFFF", (text(b"\xf4\x90\x80\x80"),), NOT_UTF8),
    Exchange("8.1", "text that ends within a character", (text(b"\xf0\x9f"),), NOT_UTF8),
    Exchange(
        "8.1",
        "frames that are not UTF-8 together",
        (text(b"ok", fin=False), WireFrame(CONTINUATION, b"\xff")),
        NOT_UTF8,
    ),
)

EXCHANGES = (*MESSAGES, *CONTROL, *CLOSING, *VIOLATIONS)
