"""Test the WebSocket endpoints with and without Channels.

tests/serve/test_websocket_setups.py tests the echoes and deliveries of every setup.
"""

import pytest


async def test_empty_or_binary_messages_are_echoed(application, connect):
    socket, _ = await connect(application, "/ws/echo/")
    assert await socket.say("") == ""
    assert await socket.say(binary=b"") == b""
    assert await socket.say(binary=bytes(range(256))) == bytes(range(256))


async def test_departed_client_gets_no_message(application, connect):
    left, _ = await connect(application, "/ws/rooms/one/")
    await left.heard()
    await left.close()
    publisher, _ = await connect(application, "/ws/publish/one/")
    assert await publisher.say("a") == "ok"
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
        ("", True),  # a client that isn't a browser doesn't send Origin
    ],
)
async def test_other_origin_is_refused(application, connect, origin, lets_in):
    _, answer = await connect(application, "/ws/echo/", origin=origin)
    assert answer["type"] == ("websocket.accept" if lets_in else "websocket.close")


@pytest.mark.parametrize(
    "path", ["/ws/refused/", "/nowhere/", "/ws/echo", "/ws/rooms/a b/", "/ws/rooms/" + "x" * 65 + "/"]
)
async def test_unknown_path_refuses_the_handshake(application, connect, path):
    _, answer = await connect(application, path)
    assert answer["type"] == "websocket.close"


@pytest.mark.parametrize(("offered", "chosen"), [(["other", "echo"], "echo"), (["other"], None), ([], None)])
async def test_offered_subprotocol_is_chosen(application, connect, offered, chosen):
    for path in ("/ws/echo/", "/ws/publish/one/"):
        _, answer = await connect(application, path, subprotocols=offered)
        assert answer["subprotocol"] == chosen


async def test_slow_receiver_loses_messages(bare, connect):
    from realtime.bare import CAPACITY

    receiver, _ = await connect(bare, "/ws/rooms/one/")
    publisher, _ = await connect(bare, "/ws/publish/one/")
    await receiver.heard()
    # All messages are sent at once, before the receiver reads any of them.
    for number in range(CAPACITY + 50):
        await publisher.communicator.send_input({"type": "websocket.receive", "text": str(number), "bytes": None})
    assert [await publisher.heard() for _ in range(CAPACITY + 50)] == ["ok"] * (CAPACITY + 50)
    assert [await receiver.heard() for _ in range(CAPACITY)] == [str(number) for number in range(CAPACITY)]
    assert await receiver.communicator.receive_nothing(0.05)
