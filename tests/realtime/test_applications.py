"""What the WebSocket endpoints do: on Channels, on each of its consumers, and without it."""

import json

import pytest

# The endpoints below a prefix, and how a message is written there.
KINDS = [("channels", "/ws/", str), ("channels", "/ws/sync/", str), ("channels", "/ws/json/", json.dumps)]
KINDS += [("bare", "/ws/", str)]
ACCEPTED = {"type": "websocket.accept", "subprotocol": None}


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0]}{kind[1]}")
def kind(request):
    name, prefix, write = request.param
    return request.getfixturevalue(name), prefix, write


async def test_what_is_said_comes_back(kind, connect):
    application, prefix, write = kind
    socket, answer = await connect(application, f"{prefix}echo/")
    assert answer == ACCEPTED
    for text in ("hello", "κόσμε", "x" * 100_000):
        assert await socket.say(write(text)) == write(text)


@pytest.mark.parametrize("prefix", ["/ws/", "/ws/sync/"])
async def test_so_does_what_is_empty_or_binary(channels, bare, connect, prefix):
    for application in (channels, *([bare] if prefix == "/ws/" else [])):
        socket, _ = await connect(application, f"{prefix}echo/")
        assert await socket.say("") == ""
        assert await socket.say(binary=b"") == b""
        assert await socket.say(binary=bytes(range(256))) == bytes(range(256))


async def test_who_is_in_a_room_gets_what_is_published_there_and_the_publisher_its_answer(kind, connect):
    application, prefix, write = kind
    receivers = [(await connect(application, f"{prefix}rooms/one/"))[0] for _ in range(3)]
    elsewhere, _ = await connect(application, f"{prefix}rooms/two/")
    for receiver in (*receivers, elsewhere):
        assert await receiver.heard() == write("joined")
    publisher, _ = await connect(application, f"{prefix}publish/one/")
    for text in ("a", "b", "c"):
        assert await publisher.say(write(text)) == write("ok")
    for receiver in receivers:
        assert [await receiver.heard() for _ in range(3)] == [write("a"), write("b"), write("c")]
    for silent in (publisher, elsewhere):
        assert await silent.communicator.receive_nothing(0.05)


async def test_who_has_left_a_room_gets_nothing(kind, connect):
    application, prefix, write = kind
    left, _ = await connect(application, f"{prefix}rooms/one/")
    await left.heard()
    await left.close()
    publisher, _ = await connect(application, f"{prefix}publish/one/")
    assert await publisher.say(write("a")) == write("ok")
    assert await left.communicator.receive_nothing(0.05)


@pytest.mark.parametrize(
    ("origin", "lets_in"),
    [
        ("http://localhost:8000", True),
        ("https://www.example.com", True),
        ("http://[::1]:8000", True),
        ("http://evil.example", False),
        ("http://localhost.evil.example", False),
        ("null", False),
        ("", True),  # no browser: it sends none
    ],
)
async def test_a_page_of_another_host_is_refused(application, connect, origin, lets_in):
    _, answer = await connect(application, "/ws/echo/", origin=origin)
    assert answer["type"] == ("websocket.accept" if lets_in else "websocket.close")


@pytest.mark.parametrize(
    "path", ["/ws/refused/", "/nowhere/", "/ws/echo", "/ws/rooms/a b/", "/ws/rooms/" + "x" * 65 + "/"]
)
async def test_where_there_is_nothing_the_handshake_is_refused(application, connect, path):
    _, answer = await connect(application, path)
    assert answer["type"] == "websocket.close"


@pytest.mark.parametrize(("offered", "chosen"), [(["other", "echo"], "echo"), (["other"], None), ([], None)])
async def test_a_subprotocol_is_chosen_from_those_that_are_offered(application, connect, offered, chosen):
    for path in ("/ws/echo/", "/ws/publish/one/"):
        _, answer = await connect(application, path, subprotocols=offered)
        assert answer["subprotocol"] == chosen


async def test_without_channels_a_receiver_that_does_not_read_loses_what_a_layer_would_lose_it(bare, connect):
    from realtime.bare import CAPACITY

    receiver, _ = await connect(bare, "/ws/rooms/one/")
    publisher, _ = await connect(bare, "/ws/publish/one/")
    await receiver.heard()
    # All of it is there at once: the publisher is done before the receiver is sent anything.
    for number in range(CAPACITY + 50):
        await publisher.communicator.send_input({"type": "websocket.receive", "text": str(number), "bytes": None})
    assert [await publisher.heard() for _ in range(CAPACITY + 50)] == ["ok"] * (CAPACITY + 50)
    assert [await receiver.heard() for _ in range(CAPACITY)] == [str(number) for number in range(CAPACITY)]
    assert await receiver.communicator.receive_nothing(0.05)
