"""Test that each message arrives once, in order and unchanged, and which contents are allowed."""

import asyncio

import pytest
from channels.exceptions import MessageTooLarge


async def test_message_arrives_unchanged(layer):
    message = {
        "bytes": b"\x00\xff",
        "text": "é",
        "integers": [-(2**63), 2**63 - 1],
        "float": 0.1,
        "tuple": (1, 2),
        "nested": {"a": {"b": [None, True]}},
    }
    await layer.send("channel", message)
    assert await layer.receive("channel") == {**message, "tuple": [1, 2]}


async def test_messages_arrive_once_and_in_order(make_layer, nothing_comes):
    layer = make_layer(capacity=1000)
    for n in range(500):
        await layer.send("channel", {"n": n})
    assert [(await layer.receive("channel"))["n"] for _ in range(500)] == list(range(500))
    await nothing_comes(layer, "channel")


async def test_later_changes_do_not_affect_message(layer):
    message = {"list": [1]}
    await layer.send("channel", message)
    message["list"].append(2)
    assert await layer.receive("channel") == {"list": [1]}


@pytest.mark.parametrize("size", [0, 1_000_000, 4 * 2**20, 20_000_000])
async def test_large_messages_arrive_unchanged(layer, size):
    for n in range(3):
        await layer.send("channel", {"n": n, "body": bytes([n]) * size})
    for n in range(3):
        assert await layer.receive("channel") == {"n": n, "body": bytes([n]) * size}


def test_oversized_message_is_refused(layer):
    with pytest.raises(MessageTooLarge, match="the maximum of 134217728"):
        asyncio.run(layer.send("channel", {"body": bytes(129 * 2**20)}))
