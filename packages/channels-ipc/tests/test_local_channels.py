"""Test local channels, which belong to a single process. Their names contain "!"."""

import asyncio
import re

import pytest
from channels.exceptions import ChannelFull


def own_prefix(channel):
    """Return the prefix that all channels from ``new_channel()`` share in a process."""
    return channel[: channel.index("!") + 1]


async def test_new_channel_names_are_unique(make_layer):
    layers = [make_layer(), make_layer()]
    names = [await layer.new_channel(prefix) for layer in layers for prefix in ("specific", "x") * 500]
    assert len(set(names)) == 2000
    assert all(layers[0].require_valid_channel_name(name) for name in names)


async def test_local_channels_receive_own_messages(layer):
    one, two = await layer.new_channel(), await layer.new_channel()
    first, second = asyncio.create_task(layer.receive(one)), asyncio.create_task(layer.receive(two))
    await asyncio.sleep(0)
    await layer.send(two, {"n": 2})
    await layer.send(one, {"n": 1})
    assert [(await first)["n"], (await second)["n"]] == [1, 2]


async def test_channels_with_equal_prefix_share_capacity(layer):
    names = [await layer.new_channel() for _ in range(4)]
    for name in names[:3]:
        await layer.send(name, {})
    with pytest.raises(ChannelFull):
        await layer.send(names[3], {})
    await layer.send(await layer.new_channel("other"), {})
    await layer.receive(names[0])
    await layer.send(names[3], {})
    with pytest.raises(ChannelFull):
        await layer.send(names[0], {})


@pytest.mark.parametrize("waits", [True, False])
async def test_prefix_receives_messages_in_order(make_layer, waits):
    layer = make_layer()
    name = await layer.new_channel()
    prefix = own_prefix(name)
    first = asyncio.create_task(layer.receive(prefix)) if waits else None
    await asyncio.sleep(0)
    for n, local in enumerate(("z", "a", "", "m", "a")):
        await layer.send(prefix + local, {"n": n})
    messages = [await first] if first else []
    while len(messages) < 5:
        messages.append(await asyncio.wait_for(layer.receive(prefix), 5))
    received = [(message["n"], message["__asgi_channel__"][len(prefix) :]) for message in messages]
    assert received == [(0, "z"), (1, "a"), (2, ""), (3, "m"), (4, "a")]


async def test_local_channel_can_have_custom_name(layer):
    prefix = own_prefix(await layer.new_channel())
    received = asyncio.create_task(layer.receive(f"{prefix}mine"))
    await asyncio.sleep(0)
    await layer.send(f"{prefix}mine", {"n": 1})
    assert await asyncio.wait_for(received, 5) == {"n": 1}


async def test_new_channel_accepts_empty_prefix(layer):
    name = await layer.new_channel("")
    await layer.send(name, {"n": 1})
    assert await asyncio.wait_for(layer.receive(name), 5) == {"n": 1}


def refusal(layer, channel):
    """Return the error that the layer raises immediately when it is asked to receive on the channel."""
    with pytest.raises(ValueError, match=re.escape(channel)) as refused:
        asyncio.run(asyncio.wait_for(layer.receive(channel), 5))
    return str(refused.value)


@pytest.mark.parametrize("channel", ["other-process!name", "other-process!", "specific.ipc0123456789abcdef!name"])
def test_channel_of_other_process_is_refused(layer, channel):
    own = own_prefix(asyncio.run(layer.new_channel("any")))
    assert own.removeprefix("any.") in refusal(layer, channel)


def test_channel_of_other_layer_is_refused(make_layer, path):
    one, other = make_layer(), make_layer(path=path.with_name("second"))
    name = asyncio.run(other.new_channel())
    for channel in (name, own_prefix(name)):
        assert refusal(one, channel)


def test_channel_of_closed_layer_is_refused(layer):
    name = asyncio.run(layer.new_channel())
    asyncio.run(layer.close())
    assert refusal(layer, name)


async def test_message_for_unknown_process_is_dropped(layer):
    await layer.group_add("group", "other-process!name")
    for _ in range(5):  # more messages than the capacity
        await layer.send("other-process!name", {})
        await layer.group_send("group", {})
    await layer.group_discard("group", "other-process!name")
    assert layer.statistics()["entries"] == 0
