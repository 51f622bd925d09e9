"""The contract over WebSockets, asked of a server of known behaviour."""

import base64
import contextlib
import hashlib
import json
import socket
import struct
import threading
from types import SimpleNamespace

import pytest

from loadtests.serve import websocket
from loadtests.serve.dialects import DIALECTS, ActionCable, Json, SocketIO
from loadtests.serve.frames import BINARY, CLOSE, CONTINUATION, GUID, PING, PONG, TEXT, WireFrame, masked
from loadtests.serve.rfc6455 import EXCHANGES, OPENINGS, Exchange
from loadtests.serve.websocket import CASES, Conformity, outcome, right, verified


class Peer:
    """A server of the dialect ``plain`` that fails where it is told to: ``echo`` makes an echo of a payload,
    ``deliver`` the deliveries of a message; ``answer`` is what a publisher gets, ``joined`` what a receiver does.
    ``walls`` is whether only those in a message's room get it. A frame that breaks the protocol closes the connection
    with ``strict``, and is passed over where that is None."""

    def __init__(self, echo=lambda x: x, deliver=lambda x: [x], answer="ok", joined="joined", strict=1002, walls=True):
        self.echo, self.deliver, self.answer, self.joined, self.strict = echo, deliver, answer, joined, strict
        self.walls = walls
        self.rooms = {}
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError, EOFError), connection, connection.makefile("rb") as reading:
            lines = iter(lambda: reading.readline().decode().strip(), "")
            path = next(lines).split()[1]
            headers = dict(line.split(": ", 1) for line in lines)
            if "Sec-WebSocket-Key" not in headers or "elsewhere" in headers.get("Origin", "") or "/ws/" not in path:
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\n\r\n")
                return
            proof = base64.b64encode(hashlib.sha1(headers["Sec-WebSocket-Key"].encode() + GUID).digest()).decode()
            connection.sendall(f"HTTP/1.1 101 Yes\r\nSec-WebSocket-Accept: {proof}\r\n\r\n".encode())
            self.talk(connection, reading, path)

    def talk(self, connection, reading, path):
        members = self.rooms.setdefault(path.replace("publish", "rooms"), [])
        if "/rooms/" in path:
            with self.lock:
                members.append(connection)
            self.send(connection, TEXT, self.joined.encode())
        pieces, kind = [], TEXT
        while True:
            frame = self.frame(reading)
            if frame.opcode == CLOSE:
                self.send(connection, CLOSE, frame.payload)
                return
            if frame.opcode not in (TEXT, BINARY, CONTINUATION, PING, PONG) or frame.rsv:
                if self.strict:
                    self.send(connection, CLOSE, struct.pack("!H", self.strict))
                    return
            elif frame.opcode == PING:
                self.send(connection, PONG, frame.payload)
            elif frame.opcode != PONG:
                kind = frame.opcode or kind
                pieces.append(frame.payload)
                if frame.fin:
                    self.heard(connection, path, members, kind, b"".join(pieces))
                    pieces = []

    def heard(self, connection, path, members, kind, payload):
        if "/echo/" in path:
            if (echo := self.echo(payload)) is not None:
                self.send(connection, kind, echo)
        elif "/publish/" in path:
            everybody = [member for room in self.rooms.values() for member in room]
            for member in members if self.walls else everybody:
                for delivery in self.deliver(payload):
                    with contextlib.suppress(OSError):
                        self.send(member, TEXT, delivery)
            self.send(connection, TEXT, self.answer.encode())

    def send(self, connection, opcode, payload):
        with self.lock:
            connection.sendall(WireFrame(opcode, payload, masked=False).to_bytes())

    def frame(self, reading):
        first, second = self.read(reading, 2)
        length = second & 0x7F
        if length > 125:
            [length] = struct.unpack("!H" if length == 126 else "!Q", self.read(reading, 2 if length == 126 else 8))
        key = self.read(reading, 4) if second & 0x80 else b"\0\0\0\0"
        return WireFrame(first & 0xF, masked(self.read(reading, length), key), bool(first & 0x80), first >> 4 & 7)

    def read(self, reading, count):
        data = reading.read(count)
        if len(data) < count:
            raise EOFError
        return data


@pytest.fixture
def peer():
    """A function: starts such a server and gives it as the contract takes one."""
    with contextlib.ExitStack() as stack:

        def start(**faults):
            made = Peer(**faults)
            stack.callback(made.listener.close)
            return SimpleNamespace(url=made.url)

        yield start


def case(name):
    return CASES[name]


def asked(server, name):
    return outcome(server, DIALECTS["plain"], case(name))


def test_a_server_that_echoes_and_delivers_is_as_it_should_be(peer):
    assert verified(peer(), "plain") == []


@pytest.mark.parametrize(
    ("faults", "says"),
    [
        ({"echo": lambda payload: payload.upper()}, "/ws/echo/: the echo is wrong: 'CONTRACT:1:'"),
        ({"deliver": lambda payload: []}, "/ws/rooms/contract/: a delivery did not come within 0.2 s"),
        ({"deliver": lambda payload: [payload + b"?"]}, "a delivery is wrong: 'contract:1:?'"),
        ({"deliver": lambda payload: [payload, payload]}, "a delivery is wrong: 'contract:1:'"),
        ({"answer": "full"}, "the answer to a publish is wrong: 'full'"),
        ({"joined": "hello"}, "a room begins with 'hello' and not with 'joined'"),
        ({"walls": False}, "/ws/rooms/contract/: a delivery in another room is wrong: 'contract:1:'"),
    ],
)
def test_what_is_not_as_it_should_be_is_told(peer, monkeypatch, faults, says):
    monkeypatch.setattr(websocket, "WITHIN_S", 0.2)
    [sentence] = verified(peer(**faults), "plain")
    assert says in sentence


def test_a_server_that_refuses_is_told_with_its_status(peer):
    assert verified(peer(), "plain", "/nowhere/") == [
        "/nowhere/echo/: refused with 403",
        "/nowhere/rooms/contract/: refused with 403",
    ]


def test_where_nobody_listens_it_is_told(peer):
    server = peer()
    server.url = "http://127.0.0.1:1"
    assert all("refused" in sentence for sentence in verified(server, "plain"))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("the handshake as it should be", "opened"),
        ("without a key", "403"),
        ("a foreign origin", "403"),
        ("a path that is not there", "403"),
        ("a subprotocol of two", "opened"),
        ("text, not ASCII", "echoed"),
        ("text in a hundred frames", "echoed"),
        ("binary, 10 MB", "echoed"),
        ("a ping between two frames", "echoed"),
        ("fifty messages at once", "echoed"),
        ("a pong that nobody asked for", "echoed"),
        ("ping, 125 bytes", "pong"),
        ("close with 3000", "closed 3000"),
        ("close without a code", "closed 1005"),
        ("a message after close", "closed 1000"),
        ("reserved bit 2", "closed 1002"),
        ("opcode 11", "closed 1002"),
        ("text that is not UTF-8", "went on"),  # this server sends it back
    ],
)
def test_the_outcome_of_a_case_is_what_the_server_did(peer, name, found):
    assert asked(peer(), name) == found


def test_a_server_that_lets_everything_pass_is_found_out(peer, monkeypatch):
    server = peer(strict=None, echo=lambda payload: None)
    assert asked(server, "reserved bit 2") == "went on"
    monkeypatch.setattr(websocket, "PATIENCE", 0.05)
    assert asked(server, "text") == "went on"
    assert not right(case("text"), {"text": "went on"})


def test_right_outcomes_may_be_patterns():
    assert right(case("a foreign origin"), {"a foreign origin": "403"})
    assert not right(case("a foreign origin"), {"a foreign origin": "opened"})
    assert right(case("text, 10 MB"), {"text, 10 MB": "closed 1009"})


def test_cases_have_names_of_their_own_and_a_section_of_the_rfc():
    assert len(CASES) == len(OPENINGS) + len(EXCHANGES) > 70
    assert all(one.section and one.right for one in CASES.values())


def test_what_is_known_of_a_setup_is_no_surprise(tmp_path, monkeypatch):
    monkeypatch.setattr(websocket, "KNOWN", tmp_path / "outcomes.json")
    websocket.known.cache_clear()
    found = Conformity("mine", {"text": "echoed", "reserved bit 2": "went on", "opcode 3": "went on"})
    assert [one.name for one in found.differences] == [one.name for one in found.unknown]
    assert {one.name for one in found.differences} == {"reserved bit 2", "opcode 3"}
    websocket.record([found])
    assert found.unknown == []
    assert json.loads((tmp_path / "outcomes.json").read_text())["mine"]["text"] == "echoed"
    # Another outcome than the one that is known is one.
    assert [one.name for one in Conformity("mine", {"reserved bit 2": "silent"}).unknown] == ["reserved bit 2"]
    websocket.known.cache_clear()


def test_only_who_sends_back_what_it_gets_is_asked_for_binary():
    assert [one.name for one in EXCHANGES if isinstance(one, Exchange) and one.exact][:2] == ["binary", "binary, empty"]


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
    assert dialect.taken(taken)
    assert not dialect.taken(noise)


def test_envelopes_are_those_of_the_protocols():
    assert SocketIO().asking("a") == '42["echo", "a"]'
    assert SocketIO().publishing("a") == '422["publish", "contract", "a"]'
    performed = json.loads(ActionCable().publishing("a"))
    assert json.loads(performed["identifier"]) == {"channel": "PublishChannel", "room": "contract"}
    assert json.loads(performed["data"]) == {"action": "publish", "payload": "a"}
    elsewhere = json.loads(ActionCable().publishing("a", "elsewhere"))
    assert json.loads(elsewhere["identifier"])["room"] == "elsewhere"
