"""The contract over WebSockets of the user's: one connection that says what the command line says, sends one message,
and must see it delivered."""

from __future__ import annotations

import contextlib
import secrets
import time
from urllib.parse import urlsplit

from loadtests.errors import quoted
from loadtests.serve.base import Server
from loadtests.serve.websocket_client import ConnectionEnded, Handshake, Refused, WebsocketClient
from loadtests.workload import Conversation, Request
from loadtests.workload.script import ID, ROOM, Script

WITHIN_S = 5.0  # for what is waited for
SHOULD_LET_IN = (
    "a cookie or a header that it needs is given by --ws-cookie or --ws-header, and its ALLOWED_HOSTS must have the "
    "host of the Origin ({origin}, or what --host-header names)"
)


def verified(running: Server, request: Request, conversation: Conversation) -> list[str]:
    """What is not as it should be when one message of a conversation is sent over the project's WebSockets, in a
    sentence.

    ``request`` is that of the handshake. No value of a header is told. Raises ValueError for one without a script.
    """
    if conversation.script is None:
        raise ValueError("it has no script")
    room = f"contract{secrets.token_hex(4)}"
    path = request.path.replace(ROOM, room)
    identity = f"{room}:{'1:1:'.ljust(conversation.size, 'x')}"
    try:
        _talks(running, request, path, conversation.script.of_room(room), identity)
    except _Unlike as error:
        return [f"{path}: {error}"]
    return []


class _Unlike(Exception):
    """It did not go as it should; the text says how."""


def _talks(running: Server, request: Request, path: str, said: Script, identity: str) -> None:
    headers = dict(request.headers)
    origin = headers.get("Origin", running.url)
    wanted = Handshake(path, origin, (said.subprotocol,) if said.subprotocol else (), request.headers)
    try:
        with WebsocketClient(running.url, wanted, WITHIN_S) as client:
            if said.subprotocol and client.subprotocol != said.subprotocol:
                chosen = quoted(client.subprotocol) if client.subprotocol else "none"
                raise _Unlike(f"it was asked for the subprotocol {said.subprotocol} and chose {chosen}")
            for text in said.first:
                client.send_text(text)
            if said.ready:
                _hear(client, said.ready, "it was opened")
            client.send_text(said.send.replace(ID, identity))
            _hear(client, said.match.replace(ID, identity), f"{quoted(said.send)} was sent")
    except Refused as refused:
        host = urlsplit(origin).netloc or origin
        why = SHOULD_LET_IN.format(origin=host) if refused.status in (401, 403) else "is it the path of a WebSocket?"
        raise _Unlike(f"the handshake was {refused}; {why}") from None
    except ConnectionEnded as ended:
        raise _Unlike(f"the server {_ended(ended)} before a message was delivered") from None
    except TimeoutError:
        raise _Unlike(f"the handshake was not answered within {WITHIN_S:g} s") from None
    except OSError as error:
        raise _Unlike(f"it cannot be reached: {error.strerror or error}") from None


def _hear(client: WebsocketClient, awaited: str, after: str) -> None:
    """Waits for a message with that in it."""
    heard = ""
    end = time.monotonic() + WITHIN_S
    while (left_s := end - time.monotonic()) > 0:
        client.timeout_s = left_s
        with contextlib.suppress(TimeoutError, UnicodeDecodeError):
            heard = client.text()
            if awaited in heard:
                return
    came = f"what came last was {quoted(heard)}" if heard else "nothing came"
    raise _Unlike(f"{after}, and no message with {quoted(awaited)} in it came within {WITHIN_S:g} s; {came}")


def _ended(ended: ConnectionEnded) -> str:
    return "dropped the connection" if ended.code is None else f"closed the connection ({quoted(str(ended))[1:-1]})"
