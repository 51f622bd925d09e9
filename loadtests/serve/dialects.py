"""Define the WebSocket dialects, for checking the contract. docs/websockets.rst describes these protocols."""

from __future__ import annotations

import json

from loadtests.serve.websocket_client import Handshake, WebsocketClient

ROOM = "contract"
ELSEWHERE = "elsewhere"  # another room
CABLE = "actioncable-v1-json"
CABLE_CHANNELS = {"echo": "EchoChannel", "rooms": "RoomChannel", "publish": "PublishChannel"}


class Dialect:
    """A protocol over WebSockets. In this plain dialect, a message is only a payload.

    ``exact`` means that the echo returns text and binary messages unchanged. In the other dialects, a message is a text
    that contains the payload in an envelope.
    """

    exact = True

    def path(self, prefix: str, endpoint: str) -> str:
        """Return the path of an endpoint: ``echo``, ``rooms/ROOM`` or ``publish/ROOM``."""
        return f"{prefix}{endpoint}/"

    def subprotocols(self) -> tuple[str, ...]:
        """Return the subprotocols to offer."""
        return ()

    def ready(self, client: WebsocketClient, endpoint: str) -> None:
        """Wait until the endpoint serves this connection.

        Raises:
            ConnectionEnded: If the server closes the connection.
            TimeoutError: If no message arrives.
            ValueError: If the server sends an unexpected message.
        """
        if endpoint.startswith("rooms") and (first := self.payload(client.text())) != "joined":
            raise ValueError(f"the first message of a room is {first!r} instead of 'joined'")

    def echo_request(self, payload: str) -> str:
        """Return the message to which the echo answers with the payload."""
        return payload

    def publish_request(self, payload: str, room: str = ROOM) -> str:
        """Return the message that publishes the payload in a room."""
        return self.echo_request(payload)

    def payload(self, message: str) -> str | None:
        """Return the payload of an echo or a delivery, or None for other messages."""
        return message

    def is_published(self, message: str) -> bool:
        """Return whether the message acknowledges a publish."""
        return self.payload(message) == "ok"


class Json(Dialect):
    """A dialect in which each message is a JSON string."""

    exact = False

    def echo_request(self, payload: str) -> str:
        return json.dumps(payload)

    def payload(self, message: str) -> str | None:
        payload = json.loads(message)
        return payload if isinstance(payload, str) else None


class SocketIO(Dialect):
    """The dialect of socket.io 4 (Engine.IO 4) in its default namespace, without HTTP polling before the WebSocket."""

    exact = False

    def path(self, prefix: str, endpoint: str) -> str:
        return "/socket.io/?EIO=4&transport=websocket"

    def ready(self, client: WebsocketClient, endpoint: str) -> None:
        client.text()  # 0{...} contains the session, the heartbeat and the limits
        client.send_text("40")
        if not (answer := self._answer(client)).startswith("40"):
            raise ValueError(f"the answer to the namespace is {answer!r}")
        kind, _, room = endpoint.partition("/")
        if kind == "rooms":
            client.send_text(f"421{json.dumps(['join', room])}")
            if (answer := self._answer(client)) != '431["joined"]':
                raise ValueError(f"the answer to join is {answer!r}")

    def _answer(self, client: WebsocketClient) -> str:
        """Return the next message that isn't a heartbeat.

        Raises:
            ValueError: If there are only heartbeats.
        """
        for _ in range(10):  # the server sends a heartbeat every 25 seconds
            if (message := client.text()) != "2":
                return message
            client.send_text("3")
        raise ValueError("only heartbeats arrived, but no answer")

    def echo_request(self, payload: str) -> str:
        return f"42{json.dumps(['echo', payload])}"

    def publish_request(self, payload: str, room: str = ROOM) -> str:
        return f"422{json.dumps(['publish', room, payload])}"

    def payload(self, message: str) -> str | None:
        if not message.startswith("42"):
            return None
        event, *arguments = json.loads(message[2:])
        return arguments[0] if event in ("echo", "message") else None

    def is_published(self, message: str) -> bool:
        return message == '432["ok"]'


class ActionCable(Dialect):
    """Action Cable. The identifier of a subscription is JSON within JSON."""

    exact = False

    def path(self, prefix: str, endpoint: str) -> str:
        return "/cable"

    def subprotocols(self) -> tuple[str, ...]:
        return (CABLE,)

    def ready(self, client: WebsocketClient, endpoint: str) -> None:
        client.send_text(json.dumps({"command": "subscribe", "identifier": self._identifier(endpoint)}))
        for _ in range(10):  # a welcome, and a ping every three seconds, may arrive before the confirmation
            if json.loads(client.text()).get("type") == "confirm_subscription":
                return
        raise ValueError("the subscription was not confirmed")

    def echo_request(self, payload: str) -> str:
        return self._perform("echo", "echo", payload)

    def publish_request(self, payload: str, room: str = ROOM) -> str:
        return self._perform(f"publish/{room}", "publish", payload)

    def payload(self, message: str) -> str | None:
        content = json.loads(message).get("message")
        payload = content.get("echo", content.get("message")) if isinstance(content, dict) else None
        return payload if isinstance(payload, str) else None

    def is_published(self, message: str) -> bool:
        return bool(json.loads(message).get("message") == {"ok": True})

    def _identifier(self, endpoint: str) -> str:
        kind, _, room = endpoint.partition("/")
        return json.dumps({"channel": CABLE_CHANNELS[kind], **({"room": room} if room else {})})

    def _perform(self, endpoint: str, action: str, payload: str) -> str:
        data = json.dumps({"action": action, "payload": payload})
        return json.dumps({"command": "message", "identifier": self._identifier(endpoint), "data": data})


DIALECTS: dict[str, Dialect] = {
    "plain": Dialect(),
    "json": Json(),
    "socket.io": SocketIO(),
    "action-cable": ActionCable(),
}


def handshake(dialect: Dialect, prefix: str, endpoint: str, origin: str) -> Handshake:
    """Return the handshake that a page of ``origin`` sends to an endpoint."""
    return Handshake(dialect.path(prefix, endpoint), origin, dialect.subprotocols())
