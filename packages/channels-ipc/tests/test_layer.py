"""Test ``flush``, ``close`` and the errors of a layer."""

import asyncio

import pytest


async def test_flush_keeps_waiting_receivers(layer, nothing_comes, soon):
    waiting = asyncio.create_task(layer.receive("waited.for"))
    channel = await layer.new_channel()
    await layer.group_add("group", channel)
    await layer.group_send("group", {})
    for name in ("channel", channel):
        await layer.send(name, {})
    await layer.flush()
    await layer.group_send("group", {})
    for name in ("channel", channel):
        await nothing_comes(layer, name)
    await layer.send("waited.for", {"n": 1})
    assert await soon(waiting) == {"n": 1}


async def test_closed_layer_can_be_reused(layer, path):
    await layer.send("channel", {"n": 1})
    await layer.close()
    await layer.close()
    assert not list(path.glob("ipc*"))
    assert await layer.receive("channel") == {"n": 1}


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda layer: layer.send("in valid", {}), TypeError),
        (lambda layer: layer.send("a" * 101, {}), TypeError),
        (lambda layer: layer.send("channel", ["no dict"]), TypeError),
        (lambda layer: layer.send("channel", {"__asgi_channel__": "x"}), ValueError),
        (lambda layer: layer.send("channel", {"what": object()}), TypeError),
        (lambda layer: layer.receive("in valid"), TypeError),
        (lambda layer: layer.group_add("in!valid", "channel"), TypeError),
        (lambda layer: layer.group_add("group", "in valid"), TypeError),
        (lambda layer: layer.group_discard("group", "in valid"), TypeError),
        (lambda layer: layer.group_send("in valid", {}), TypeError),
    ],
)
def test_invalid_names_and_messages_are_refused(layer, call, error):
    with pytest.raises(error):
        asyncio.run(call(layer))


def test_specified_extensions_are_supported(layer):
    assert set(layer.extensions) == {"groups", "flush"}
    assert layer.group_expiry == 86400
