"""Load on a URL of WebSockets, by hand: messages that must come back."""

from __future__ import annotations

from typing import Any

from loadtests.errors import UserError
from loadtests.workload import Conversation

SIZE = 64


def echoes(url: str, size: int | None) -> tuple[str, dict[str, Any]]:
    """The URL as HTTP writes it and, for one of WebSockets, what makes of a load on it messages of ``size`` bytes that
    must come back as they are; for another nothing. Raises UserError."""
    scheme, separator, rest = url.partition("://")
    if scheme.lower() == "wss":
        raise UserError("wss:// cannot be loaded; write the ws:// address of the server behind it")
    if scheme.lower() != "ws":
        if size is not None:
            raise UserError("--size says how long a message over WebSockets is; it goes with ws://")
        return url, {}
    conversation = Conversation("echo", prefix="", size=SIZE if size is None else size)
    return f"http{separator}{rest}", {"protocol": "websocket", "conversation": conversation}
