"""Check the contract over the user's WebSockets: a connection must deliver a message of the script."""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import secrets
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from loadtests.errors import quoted
from loadtests.serve.http import with_ticket
from loadtests.serve.serving import Serving
from loadtests.serve.websocket_client import ConnectionEnded, Handshake, Refused, WebsocketClient
from loadtests.workload import Conversation, Request
from loadtests.workload.script import ID, ROOM, Script

WITHIN_S = 5.0  # time limit for each expected message
CLOSES_WITHIN_S = 1.0  # time limit for the server to close the connection after a handshake without a subprotocol
SHOULD_LET_IN = (
    "log users in with --login, or set required cookies or headers with --ws-cookie or --ws-header, and check that "
    "ALLOWED_HOSTS contains the host of the Origin ({origin}, or the host in --host-header)"
)


def verified(running: Serving, request: Request, conversation: Conversation) -> list[str]:
    """Send one message of a conversation over the project's WebSockets, and describe the failures.

    The descriptions don't contain the values of headers.

    Args:
        running: The running setup, which serves the user's project.
        request: The path and the headers of the handshake.
        conversation: The conversation, with the script of the user's messages.

    Raises:
        ValueError: If the conversation has no script.
    """
    if conversation.script is None:
        raise ValueError("the conversation has no script")
    room = f"contract{secrets.token_hex(4)}"
    path = request.path.replace(ROOM, room)
    identity = f"{room}:{'1:1:'.ljust(conversation.size, 'x')}"
    try:
        _talk(running, request, path, conversation.script.of_room(room), identity)
    except _Broken as error:
        return [f"{path}: {error}"]
    return []


class _Broken(Exception):
    """An error if no message was delivered. The text describes the failure."""


def _talk(running: Serving, request: Request, path: str, script: Script, identity: str) -> None:
    origin = next((value for name, value in request.headers if name.lower() == "origin"), running.url)
    try:
        request = with_ticket(dataclasses.replace(request, path=path), lambda one: running.ask(one, WITHIN_S))
        handshake = Handshake(request.path, origin, script.subprotocols, request.headers)
        with WebsocketClient(running.url, handshake, WITHIN_S) as client:
            _require_offered(client, script.subprotocols)
            for text in script.first:
                client.send_text(text)
            if script.ready:
                _await(client, script.ready, "the handshake")
            client.send_text(script.send.replace(ID, identity))
            _await(client, script.match.replace(ID, identity), f"{quoted(script.send)} was sent")
    except Refused as refused:
        host = urlsplit(origin).netloc or origin
        why = SHOULD_LET_IN.format(origin=host) if refused.status in (401, 403) else "check the path of the WebSocket"
        raise _Broken(f"the handshake was {refused}; {why}") from None
    except ConnectionEnded as ended:
        raise _Broken(f"the server {_ended(ended)} before a message was delivered") from None
    except TimeoutError:
        raise _Broken(f"the handshake was not answered within {WITHIN_S:g} s") from None
    except http.client.HTTPException as error:
        raise _Broken(str(error)) from None
    except OSError as error:
        raise _Broken(f"the server can't be reached: {error.strerror or error}") from None


def _require_offered(client: WebsocketClient, offered: Sequence[str]) -> None:
    """Check that the server chose one of the ``offered`` subprotocols.

    Raises:
        ConnectionEnded: If the server closes the connection instead. The application's close code explains more.
        _Broken: If the server chose no subprotocol, or another subprotocol. The text doesn't contain the offered
            subprotocols, which may be secret.
    """
    if not offered or client.subprotocol in offered:
        return
    client.timeout_s = CLOSES_WITHIN_S
    with contextlib.suppress(TimeoutError, UnicodeDecodeError):
        client.text()
    raise _Broken(
        f"the server chose {'a subprotocol that was not offered' if client.subprotocol else 'no subprotocol'}"
    )


def _await(client: WebsocketClient, awaited: str, after: str) -> None:
    """Wait for a message that contains ``awaited``."""
    received = ""
    end = time.monotonic() + WITHIN_S
    while (left_s := end - time.monotonic()) > 0:
        client.timeout_s = left_s
        with contextlib.suppress(TimeoutError, UnicodeDecodeError):
            received = client.text()
            if awaited in received:
                return
    came = f"the last message was {quoted(received)}" if received else "no message arrived"
    raise _Broken(f"no message with {quoted(awaited)} within {WITHIN_S:g} s after {after}; {came}")


def _ended(ended: ConnectionEnded) -> str:
    return "dropped the connection" if ended.code is None else f"closed the connection ({quoted(str(ended))[1:-1]})"
