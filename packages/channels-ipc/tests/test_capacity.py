"""Test the capacity of channels that aren't read, and the expiry of their messages."""

import asyncio

import pytest
from channels.exceptions import ChannelFull


async def test_full_channel_refuses_messages(layer):
    for n in range(3):
        await layer.send("channel", {"n": n})
    with pytest.raises(ChannelFull):
        await layer.send("channel", {"n": 3})
    await layer.send("channel2", {})
    assert (await layer.receive("channel"))["n"] == 0
    await layer.send("channel", {"n": 3})
    assert [(await layer.receive("channel"))["n"] for _ in range(3)] == [1, 2, 3]


async def test_capacity_can_be_set_by_channel(make_layer):
    layer = make_layer(capacity=2, channel_capacity={"big.*": 5, "none": 0})

    async def sendable(channel):
        for n in range(10):
            try:
                await layer.send(channel, {})
            except ChannelFull:
                return n

    assert [await sendable(channel) for channel in ("small", "big.one", "none")] == [2, 5, 0]


async def test_full_store_refuses_messages(make_layer):
    layer = make_layer(capacity=100)
    large, small = bytes(125 * 2**20), bytes(12 * 2**20)
    for n in range(4):
        await layer.send("large", {"n": n, "body": large})
    with pytest.raises(ChannelFull):
        await layer.send("small", {"body": small})
    await layer.group_add("group", "member")
    await layer.group_send("group", {"body": small})  # the message is dropped without an error
    assert (await layer.receive("large"))["n"] == 0
    await layer.send("small", {"body": small})
    await layer.group_send("group", {"body": small})
    for channel in ("small", "member"):
        assert await layer.receive(channel) == {"body": small}


async def test_unread_messages_expire(make_layer, nothing_comes):
    layer, brief = make_layer(), make_layer(expiry=0.001)
    channel = await layer.new_channel()
    for name in ("channel", channel):
        await brief.send(name, {"n": 1})
    await asyncio.sleep(0.002)
    for name in ("channel", channel):
        await nothing_comes(layer, name)
        await layer.send(name, {"n": 2})
        assert (await layer.receive(name))["n"] == 2


async def test_expired_messages_do_not_use_capacity(make_layer):
    layer, brief = make_layer(capacity=3), make_layer(capacity=3, expiry=0.001)
    channel = await layer.new_channel()
    for name in ("channel", channel):
        for _ in range(3):
            await brief.send(name, {})
    await asyncio.sleep(0.002)
    for name in ("channel", channel + "other"):
        for n in range(3):
            await layer.send(name, {"n": n})
        with pytest.raises(ChannelFull):
            await layer.send(name, {})
        assert (await layer.receive(name))["n"] == 0
