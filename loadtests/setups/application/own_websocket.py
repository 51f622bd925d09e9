"""Describe the WebSockets of the user's project: path, handshake and script. Run folders don't contain the secrets."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from loadtests.errors import UserError, quoted
from loadtests.workload import Conversation, Request
from loadtests.workload.script import ROOM, SCRIPT, Script
from loadtests.workload.secrets import HEADER, REPLACED, SECRET_OPTIONS, telling, without_accounts, without_named

COOKIE = re.compile(r"[^\s=;,]+=[^\s;,]*")  # RFC 6265, 4.1.1
NOT_KEPT = {option.removeprefix("--ws-") for option in SECRET_OPTIONS} - {HEADER}
HANDSHAKES_OWN = "sec-websocket-"


@dataclasses.dataclass(frozen=True)
class OwnWebsocket:
    """The WebSockets of the user's project.

    Args:
        path: The path of the handshake.
        script: The messages to send and to expect.
        headers: The headers of the handshake (``X-Token: abc``).
        cookies: The cookies of the handshake (``sessionid=abc``).

    Raises:
        UserError: If a value isn't valid.
    """

    path: str
    script: Script
    headers: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            Request("handshake", path=self.path)
        except UserError as error:
            raise UserError(f"--ws-path: {str(error).removeprefix('path: ')}") from None
        if self.cookies and any(name.lower() == "cookie" for name, _ in self._pairs()):
            raise UserError("--ws-header: the cookie is also in --ws-cookie. Leave one of them out")
        for cookie in self.cookies:
            if COOKIE.fullmatch(cookie) is None:  # not shown, because it may be a password
                raise UserError("--ws-cookie: write a name and its value as a browser sends them: sessionid=abc")
        self.request(None)

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> OwnWebsocket:
        """Create the description from the command line options, whose names lack the prefix ``--ws-``.

        Raises:
            UserError: If an option is missing or isn't valid.
        """
        missing = next((name for name in ("path", "send") if name not in given), None)
        if missing is not None:
            example = '--ws-path /ws/chat/ --ws-send \'{"text": "$ID"}\''
            raise UserError(f"--ws-{next(iter(given))} also needs --ws-{missing}: {example}")
        script = Script(
            send=given["send"],
            first=tuple(given.get("first", ())),
            **{name: given[name] for name in ("match", "ready") if name in given},
            subprotocols=tuple(given.get("subprotocol", ())),
        )
        return cls(given["path"], script, tuple(given.get("header", ())), tuple(given.get("cookie", ())))

    def to_dict(self) -> dict[str, Any]:
        """Return the values for run.json, without the values of headers, cookies and subprotocols."""
        script = {field.name: getattr(self.script, field.name) for field in dataclasses.fields(Script)}
        subprotocols = script.pop("subprotocols")
        kept = {
            "path": self.path,
            **script,
            "header": self.headers,
            "cookie": self.cookies,
            "subprotocol": subprotocols,
        }
        values = {name: value for name, value in kept.items() if value and value != getattr(Script, name, None)}
        for name in NOT_KEPT & values.keys():
            values[name] = [without_value(one) for one in values[name]]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> OwnWebsocket:
        """Create the description from values that ``to_dict`` has returned.

        Raises:
            UserError: If the values lack a secret, because run.json doesn't contain secrets.
        """
        for name in sorted(NOT_KEPT):
            if name in values:
                kept = "whose value isn't in the run folder"
                raise UserError(f"the run used --ws-{name}, {kept}. Start a new run")
        return cls.parse(values)

    def request(self, host: str | None) -> Request:
        """Return the request that opens a WebSocket, with the project's host if ``host`` is set.

        Raises:
            UserError: If a header isn't valid.
        """
        headers = self._pairs()
        given = {name.lower() for name, _ in headers}
        of_host = () if host is None else (("Host", host), ("Origin", f"http://{host}"))
        cookies = (("Cookie", "; ".join(self.cookies)),) if self.cookies else ()
        own = [(name, value) for name, value in of_host if name.lower() not in given]
        try:
            return Request(f"GET {self.path}", path=self.path, headers=(*own, *headers, *cookies))
        except UserError as error:
            raise UserError(f"--ws-header: {str(error).removeprefix('headers: ')}") from None

    def scripted(self, conversation: Conversation) -> Conversation:
        """Return the conversation with the user's script.

        Raises:
            UserError: If there are several rooms, but neither the script nor the path contains the room's name.
        """
        if conversation.rooms > 1 and not (self.script.names_rooms or ROOM in self.path):
            raise UserError(f"there are {conversation.rooms} rooms. Write {ROOM} instead of the name of a room")
        return dataclasses.replace(conversation, dialect=SCRIPT, prefix=self.path, script=self.script)

    def _pairs(self) -> tuple[tuple[str, str], ...]:
        pairs = header_pairs(self.headers, "--ws-header")
        for name, _ in pairs:
            if name.lower().startswith(HANDSHAKES_OWN):
                own = quoted(name)
                raise UserError(f"--ws-header: the handshake sets {own}. For a subprotocol, use --ws-subprotocol")
        return pairs


def header_pairs(headers: Sequence[str], option: str) -> tuple[tuple[str, str], ...]:
    """Split headers such as ``X-Token: abc``.

    Raises:
        UserError: If a header has no colon. The message doesn't contain the header, because it may be a password.
    """
    parts = [header.partition(":") for header in headers]
    if not all(colon for _, colon, _ in parts):
        raise UserError(f"{option}: write a name, a colon and a value: 'X-Token: abc'")
    return tuple((name.strip(), value.strip()) for name, _, value in parts)


def without_value(text: str, option: str = "") -> str:
    """Return a header or cookie without its value. For HEADER, keep a value whose name doesn't mark a secret."""
    name, sign, _ = min((text.partition(sign) for sign in ":="), key=lambda parts: len(parts[0]))
    if option == HEADER and sign and not telling(name):
        return text
    return f"{name}{sign}{REPLACED}" if sign else REPLACED


def without_secrets(arguments: Sequence[str]) -> list[str]:
    """Return a command line without secret values.

    Secret values are headers, cookies, subprotocols, accounts in URLs, and values whose names mark a secret, such as
    ``TOKEN=...``.
    """
    kept: list[str] = []
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if kept and kept[-1] in SECRET_OPTIONS:
            kept.append(without_value(argument, kept[-1]))
        elif equals and option in SECRET_OPTIONS:
            kept.append(f"{option}={without_value(value, option)}")
        else:
            kept.append(without_named(without_accounts(argument)))
    return kept
