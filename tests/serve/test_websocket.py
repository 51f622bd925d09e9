"""The contract over WebSockets, asked of a server of known behaviour."""

import contextlib
import itertools
import json
import socket
import threading
from collections import defaultdict
from types import SimpleNamespace

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Opcode
from websockets.sync.server import serve

from loadtests.serve import websocket
from loadtests.serve.dialects import DIALECTS, ActionCable, Json, SocketIO
from loadtests.serve.websocket import broken_cases, outcome, verified
from loadtests.serve.websocket_cases import CASES
from loadtests.serve.websocket_client import ConnectionEnded, Handshake, Refused, WebsocketClient

ECHO = Handshake("/ws/echo/", "http://localhost")


class Peer:
    """A server of the dialect ``plain`` with faults: ``echo`` makes an echo of a message, ``deliver`` its deliveries;
    ``answer`` is what a publisher gets, ``joined`` what a receiver does. Without ``walls`` all rooms get a message."""

    def __init__(self, echo=lambda x: x, deliver=lambda x: [x], answer="ok", joined="joined", walls=True):
        self.echo, self.deliver, self.answer, self.joined, self.walls = echo, deliver, answer, joined, walls
        self.rooms = defaultdict(list)
        options = {"subprotocols": ["echo"], "compression": None, "max_size": None, "select_subprotocol": self.choose}
        self.server = serve(self.talk, "127.0.0.1", 0, process_request=self.admit, **options)
        self.url = f"http://127.0.0.1:{self.server.socket.getsockname()[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def admit(self, connection, request):
        if "elsewhere" in request.headers.get("Origin", "") or not request.path.startswith("/ws/"):
            return connection.respond(403, "no")
        return None

    def choose(self, connection, offered):
        return "echo" if "echo" in offered else None

    def talk(self, connection):
        path = connection.request.path
        room = self.rooms[path.replace("publish", "rooms")]
        if "/rooms/" in path:
            room.append(connection)
            connection.send(self.joined)
        for message in connection:
            if "/echo/" in path:
                connection.send(self.echo(message))
                continue
            for member in room if self.walls else itertools.chain(*self.rooms.values()):
                for delivery in self.deliver(message):
                    with contextlib.suppress(ConnectionClosed):
                        member.send(delivery)
            connection.send(self.answer)


@pytest.fixture
def peer():
    """A function: starts such a server and gives it as the contract takes one."""
    with contextlib.ExitStack() as stack:

        def start(**faults):
            peer = Peer(**faults)
            stack.callback(peer.server.shutdown)
            return SimpleNamespace(url=peer.url)

        yield start


@pytest.fixture
def raw():
    """A function: a server that answers one handshake with the bytes it is given, and hangs up."""
    with contextlib.ExitStack() as stack:

        def start(answer):
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

            def run():
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

            thread = threading.Thread(target=run)
            thread.start()
            stack.callback(thread.join)
            return f"http://127.0.0.1:{listener.getsockname()[1]}"

        yield start


def answer_to(server, name):
    return outcome(server, DIALECTS["plain"], next(case for case in CASES if case.name == name))


def test_a_server_that_echoes_and_delivers_is_as_it_should_be(peer):
    assert verified(peer(), "plain") == []


@pytest.mark.parametrize(
    ("faults", "says"),
    [
        ({"echo": lambda payload: payload.upper()}, "/ws/echo/: the echo is wrong: 'CONTRACT:1:'"),
        ({"deliver": lambda payload: []}, "/ws/rooms/contract/: a delivery did not come within 0.2 s"),
        ({"deliver": lambda payload: [payload + "?"]}, "a delivery is wrong: 'contract:1:?'"),
        ({"deliver": lambda payload: [payload, payload]}, "a delivery is wrong: 'contract:1:'"),
        ({"answer": "full"}, "the answer to a publish is wrong: 'full'"),
        ({"joined": "hello"}, "a room begins with 'hello' and not with 'joined'"),
        ({"walls": False}, "/ws/rooms/contract/: a delivery in another room is wrong: 'contract:1:'"),
    ],
)
def test_what_is_wrong_is_said(peer, monkeypatch, faults, says):
    monkeypatch.setattr(websocket, "WITHIN_S", 0.2)
    [sentence] = verified(peer(**faults), "plain")
    assert says in sentence


def test_a_server_that_refuses_is_named_with_its_status(peer):
    assert verified(peer(), "plain", "/nowhere/") == [
        "/nowhere/echo/: refused with 403",
        "/nowhere/rooms/contract/: refused with 403",
    ]


def test_a_port_where_nobody_listens_is_an_error(peer):
    server = SimpleNamespace(url="http://127.0.0.1:1")
    assert all("refused" in sentence for sentence in verified(server, "plain"))


def test_a_right_server_passes_every_case(peer):
    assert broken_cases(peer(), "plain", ("sync-consumer", "json-consumer")) == (len(CASES), [])


def test_what_a_server_does_wrong_in_a_case_is_said_with_what_is_right(peer, monkeypatch):
    monkeypatch.setattr(websocket, "CASE_WITHIN_S", 0.3)
    assert answer_to(peer(echo=lambda message: message[1:]), "binary") == "something else"
    assert answer_to(SimpleNamespace(url="http://127.0.0.1:1"), "ping").startswith("not opened: ")


def test_only_setups_that_send_a_message_back_as_it_is_are_asked_for_binary():
    assert [case.name for case in CASES if case.exact] == ["a subprotocol of two", "binary", "binary, 1 MB"]


def test_a_message_in_pieces_and_a_pong_are_received(peer):
    with WebsocketClient(peer(echo=lambda message: iter([message[:3], message[3:]])).url, ECHO) as client:
        client.send_text("hello")
        assert client.next() == (Opcode.TEXT, b"hello")


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", 403),
        (b"", None),
        (b"nonsense\r\n\r\n", None),
        (b"HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n", 101),
    ],
)
def test_what_is_no_handshake_is_refused(raw, answer, status):
    with pytest.raises(Refused) as refused:
        WebsocketClient(raw(answer), ECHO)
    assert refused.value.status == status


def test_headers_of_the_caller_replace_those_of_the_client(peer):
    server = peer()
    headers = (("host", "chat.example"), ("Origin", "http://elsewhere.example"))
    with pytest.raises(Refused):
        WebsocketClient(server.url, Handshake("/ws/echo/", server.url, headers=headers))


def test_a_connection_that_the_server_closes_has_a_code(peer):
    def fail(message):
        raise ValueError

    with WebsocketClient(peer(echo=fail).url, ECHO) as client:
        client.send_text("hello")
        with pytest.raises(ConnectionEnded) as ended:
            client.next()
    assert ended.value.code == 1011


@pytest.mark.parametrize(
    ("dialect", "echo", "delivery", "noise", "taken"),
    [
        (Json(), '"a:1:"', '"a:1:"', "7", '"ok"'),
        (SocketIO(), '42["echo","a:1:"]', '42["message","a:1:"]', "2", '432["ok"]'),
        (
            ActionCable(),
            '{"identifier":"{}","message":{"echo":"a:1:"}}',
            '{"identifier":"{}","message":{"message":"a:1:"}}',
            '{"type":"ping","message":1763766000}',
            '{"identifier":"{}","message":{"ok":true}}',
        ),
    ],
)
def test_a_dialect_finds_the_payload_in_its_envelope(dialect, echo, delivery, noise, taken):
    assert (dialect.payload(echo), dialect.payload(delivery), dialect.payload(noise)) == ("a:1:", "a:1:", None)
    assert dialect.is_published(taken)
    assert not dialect.is_published(noise)


def test_envelopes_are_those_of_the_protocols():
    assert SocketIO().echo_request("a") == '42["echo", "a"]'
    assert SocketIO().publish_request("a") == '422["publish", "contract", "a"]'
    performed = json.loads(ActionCable().publish_request("a"))
    assert json.loads(performed["identifier"]) == {"channel": "PublishChannel", "room": "contract"}
    assert json.loads(performed["data"]) == {"action": "publish", "payload": "a"}
    elsewhere = json.loads(ActionCable().publish_request("a", "elsewhere"))
    assert json.loads(elsewhere["identifier"])["room"] == "elsewhere"
