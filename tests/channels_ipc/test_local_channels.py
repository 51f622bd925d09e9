"""Channels of one process: names with "!"."""

import asyncio

import pytest
from channels.exceptions import ChannelFull


def test_new_channels_are_valid_and_all_different(make_layer):
    layers = [make_layer(), make_layer()]

    async def scenario():
        return [await layer.new_channel(prefix) for layer in layers for prefix in ("specific", "x") * 500]

    names = asyncio.run(scenario())
    assert len(set(names)) == 2000
    assert all(layers[0].require_valid_channel_name(name) for name in names)


def test_each_local_channel_gets_its_own_messages(layer):
    async def scenario():
        one, two = await layer.new_channel(), await layer.new_channel()
        first, second = asyncio.create_task(layer.receive(one)), asyncio.create_task(layer.receive(two))
        await asyncio.sleep(0)
        await layer.send(two, {"n": 2})
        await layer.send(one, {"n": 1})
        return [(await first)["n"], (await second)["n"]]

    assert asyncio.run(scenario()) == [1, 2]


def test_local_channels_share_the_capacity_of_their_prefix(layer):
    async def scenario():
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

    asyncio.run(scenario())


@pytest.mark.parametrize("waits", [True, False])
def test_a_prefix_receives_for_all_its_channels_in_order(make_layer, waits):
    layer = make_layer()

    async def scenario():
        name = await layer.new_channel()
        prefix = name[: name.index("!") + 1]
        received = asyncio.create_task(layer.receive(prefix)) if waits else None
        await asyncio.sleep(0.01)
        for n, local in enumerate(("z", "a", "", "m", "a")):
            await layer.send(prefix + local, {"n": n})
        messages = [await received] if received else []
        while len(messages) < 5:
            messages.append(await asyncio.wait_for(layer.receive(prefix), 5))
        return [(message["n"], message["__asgi_channel__"][len(prefix) :]) for message in messages]

    assert asyncio.run(scenario()) == [(0, "z"), (1, "a"), (2, ""), (3, "m"), (4, "a")]


def test_names_with_an_exclamation_mark_may_be_made_by_hand(layer):
    async def scenario():
        received = asyncio.create_task(layer.receive("mine!one"))
        by_prefix = asyncio.create_task(layer.receive("other!"))
        await asyncio.sleep(0.01)
        await layer.send("mine!one", {"n": 1})
        await layer.send("other!two", {"n": 2})
        return [(await asyncio.wait_for(task, 5))["n"] for task in (received, by_prefix)]

    assert asyncio.run(scenario()) == [1, 2]
