"""Describe the WebSockets of the user's project: path and script. Run folders don't contain the secrets."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from loadtests.errors import UserError
from loadtests.workload import Conversation, Request
from loadtests.workload.script import ROOM, SCRIPT, Script
from loadtests.workload.secrets import HEADER, REPLACED, SECRET_OPTIONS, telling, without_accounts, without_named

SUBPROTOCOL = "subprotocol"


@dataclasses.dataclass(frozen=True)
class OwnWebsocket:
    """The WebSockets of the user's project: the path of the handshake, and the messages to send and to expect.

    Raises:
        UserError: If the path isn't valid.
    """

    path: str
    script: Script

    def __post_init__(self) -> None:
        try:
            self.request(None)
        except UserError as error:
            raise UserError(f"--ws-path: {str(error).removeprefix('path: ')}") from None

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
            subprotocols=tuple(given.get(SUBPROTOCOL, ())),
        )
        return cls(given["path"], script)

    def to_dict(self) -> dict[str, Any]:
        """Return the values for run.json, without the subprotocols, because they can be tokens."""
        script = {field.name: getattr(self.script, field.name) for field in dataclasses.fields(Script)}
        subprotocols = script.pop("subprotocols")
        kept = {"path": self.path, **script, "first": list(self.script.first)}
        values = {name: value for name, value in kept.items() if value and value != getattr(Script, name, None)}
        return {**values, SUBPROTOCOL: [REPLACED] * len(subprotocols)} if subprotocols else values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> OwnWebsocket:
        """Create the description from values that ``to_dict`` has returned.

        Raises:
            UserError: If the values lack a subprotocol, because run.json doesn't contain secrets.
        """
        if SUBPROTOCOL in values:
            raise UserError("the run used --ws-subprotocol, whose value isn't in the run folder. Start a new run")
        return cls.parse(values)

    def request(self, host: str | None) -> Request:
        """Return the request that opens a WebSocket, with the project's host if ``host`` is set."""
        headers = () if host is None else (("Host", host), ("Origin", f"http://{host}"))
        return Request(f"GET {self.path}", path=self.path, headers=headers)

    def scripted(self, conversation: Conversation) -> Conversation:
        """Return the conversation with the user's script.

        Raises:
            UserError: If there are several rooms, but neither the script nor the path contains the room's name.
        """
        if conversation.rooms > 1 and not (self.script.names_rooms or ROOM in self.path):
            raise UserError(f"there are {conversation.rooms} rooms. Write {ROOM} instead of the name of a room")
        return dataclasses.replace(conversation, dialect=SCRIPT, prefix=self.path, script=self.script)


def without_value(text: str) -> str:
    """Return a header without its value if its name marks a secret, or ``REPLACED`` if the text isn't a header."""
    name, colon, _ = text.partition(":")
    return text if colon and not telling(name) else f"{name if colon else ''}{colon}{REPLACED}"


def without_secrets(arguments: Sequence[str]) -> list[str]:
    """Return a command line without secret values.

    Secret values are headers, subprotocols, accounts in URLs, and values whose names mark a secret, such as
    ``TOKEN=...``.
    """
    kept: list[str] = []
    for argument in arguments:
        option, equals, value = argument.partition("=") if argument.startswith("--") else ("", "", argument)
        name = option if equals else kept[-1] if kept else ""
        if name not in SECRET_OPTIONS:
            kept.append(without_named(without_accounts(argument)))
        else:
            kept.append(f"{option}{equals}{without_value(value) if name == HEADER else REPLACED}")
    return kept
