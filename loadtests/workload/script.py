"""Describe the messages that a load sends over the WebSockets of the user's application."""

from __future__ import annotations

import dataclasses
import json
import re

from loadtests.errors import UserError, quoted

SCRIPT = "script"  # name of the dialect
ID = "$ID"
ROOM = "$ROOM"
LIKE_JSON = ("{", "[")  # a text that starts with one of these characters should be JSON
SUBPROTOCOL = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # a token of RFC 9110, 5.6.2
SHOWN = "3f09ac81:7:12:xxxx"  # an example of an id. Ids need no escapes in JSON or HTML


@dataclasses.dataclass(frozen=True)
class Script:
    """The user's messages, with placeholders.

    ``$ID`` is a placeholder for the id of a message. ``$ROOM`` is a placeholder for the name of a room, or of a
    connection for echoes. No other load or connection has the same name.

    Args:
        send: The message to send.
        first: The messages to send first on each open connection.
        match: A received message with this text counts as a delivery. The text must contain ``$ID``.
        ready: A connection is ready after a message with this text, or immediately if the text is empty.
        subprotocols: The subprotocols of the handshake, which may contain a secret.

    Raises:
        UserError: If a text can't be sent, or doesn't identify a delivery.
    """

    send: str
    first: tuple[str, ...] = ()
    match: str = ID
    ready: str = ""
    subprotocols: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if ID not in self.send:
            raise UserError(f"--ws-send {quoted(self.send)}: has no {ID}, which identifies a message when it returns")
        if self.match.count(ID) != 1:
            raise UserError(f"--ws-match {quoted(self.match)}: needs {ID} once, for the id of the message")
        if ID in self.ready or any(ID in text for text in self.first):
            raise UserError(f"--ws-first and --ws-ready can't contain {ID}, which is only for --ws-send and --ws-match")
        for option, text in self._texts():
            if not (text.isascii() and text.isprintable()):
                others = "in JSON, write other characters as \\u00e9"
                raise UserError(f"{option} {quoted(text)}: only a line of ASCII can be sent; {others}")
        for option, text in (("--ws-send", self.send), *(("--ws-first", text) for text in self.first)):
            _require_json(option, text)
        for name in self.subprotocols:
            if re.fullmatch(SUBPROTOCOL, name) is None:  # not shown, because it may be a secret
                raise UserError("--ws-subprotocol: write one word, such as graphql-ws. Repeat the option for others")

    def _texts(self) -> list[tuple[str, str]]:
        texts = [("--ws-first", text) for text in self.first]
        return [
            *texts,
            ("--ws-send", self.send),
            ("--ws-match", self.match),
            ("--ws-ready", self.ready),
        ]

    @property
    def names_rooms(self) -> bool:
        """Whether a message contains the room."""
        return any(ROOM in text for _, text in self._texts())


def _require_json(option: str, text: str) -> None:
    """Check a text that starts like JSON.

    Raises:
        UserError: If it isn't valid JSON.
    """
    if not text.lstrip().startswith(LIKE_JSON):
        return
    try:
        json.loads(text.replace(ID, SHOWN))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{option} {quoted(text)}: starts like JSON but is invalid: {error}") from None
