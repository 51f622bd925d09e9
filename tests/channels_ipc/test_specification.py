"""What the channel layer specification of Channels asks, with one process."""

import asyncio

import pytest
from channels.exceptions import ChannelFull, MessageTooLarge


def test_a_message_arrives_as_it_was_sent(layer):
    message = {
        "bytes": b"\x00\xff",
        "text": "é",
        "integers": [-(2**63), 2**63 - 1],
        "float": 0.1,
        "tuple": (1, 2),
        "nested": {"a": {"b": [None, True]}},
    }

    async def scenario():
        await layer.send("channel", message)
        return await layer.receive("channel")

    assert asyncio.run(scenario()) == {**message, "tuple": [1, 2]}


def test_receive_waits_for_a_message(layer):
    async def scenario():
        received = asyncio.create_task(layer.receive("channel"))
        await asyncio.sleep(0.05)
        assert not received.done()
        await layer.send("channel", {"n": 1})
        return await asyncio.wait_for(received, 5)

    assert asyncio.run(scenario()) == {"n": 1}


def test_messages_come_in_order_each_once(make_layer, nothing_comes):
    layer = make_layer(capacity=1000)

    async def scenario():
        for n in range(500):
            await layer.send("channel", {"n": n})
        assert [(await layer.receive("channel"))["n"] for _ in range(500)] == list(range(500))
        await nothing_comes(layer, "channel")

    asyncio.run(scenario())


def test_changing_a_message_after_send_changes_nothing(layer):
    async def scenario():
        message = {"list": [1]}
        await layer.send("channel", message)
        message["list"].append(2)
        return await layer.receive("channel")

    assert asyncio.run(scenario()) == {"list": [1]}


@pytest.mark.parametrize("size", [0, 1_000_000, 4 * 2**20, 20_000_000])
def test_messages_may_be_large(layer, size):
    async def scenario():
        for n in range(3):
            await layer.send("channel", {"n": n, "body": bytes([n]) * size})
        for n in range(3):
            assert await layer.receive("channel") == {"n": n, "body": bytes([n]) * size}

    asyncio.run(scenario())


def test_a_message_beyond_all_bounds_is_refused(layer):
    with pytest.raises(MessageTooLarge, match="the most is 134217728"):
        asyncio.run(layer.send("channel", {"body": bytes(129 * 2**20)}))


def test_a_full_channel_refuses_and_others_do_not(layer):
    async def scenario():
        for n in range(3):
            await layer.send("channel", {"n": n})
        with pytest.raises(ChannelFull):
            await layer.send("channel", {"n": 3})
        await layer.send("channel2", {})
        assert (await layer.receive("channel"))["n"] == 0
        await layer.send("channel", {"n": 3})
        assert [(await layer.receive("channel"))["n"] for _ in range(3)] == [1, 2, 3]

    asyncio.run(scenario())


def test_capacity_can_be_set_by_channel(make_layer):
    layer = make_layer(capacity=2, channel_capacity={"big.*": 5, "none": 0})

    async def sendable(channel):
        for n in range(10):
            try:
                await layer.send(channel, {})
            except ChannelFull:
                return n

    async def scenario():
        return [await sendable(channel) for channel in ("small", "big.one", "none")]

    assert asyncio.run(scenario()) == [2, 5, 0]


def test_a_store_that_is_full_refuses_and_recovers(make_layer):
    layer = make_layer(capacity=100)

    async def scenario():
        body = bytes(100 * 2**20)
        for n in range(5):
            await layer.send("channel", {"n": n, "body": body})
        with pytest.raises(ChannelFull):
            await layer.send("channel", {"n": 5, "body": body})
        await layer.group_add("group", "member")
        await layer.group_send("group", {"body": body})  # dropped, without an error
        for n in range(5):
            assert (await layer.receive("channel"))["n"] == n
        await layer.send("channel", {"n": "again"})
        assert (await layer.receive("channel"))["n"] == "again"

    asyncio.run(scenario())


def test_what_nobody_reads_expires(make_layer, nothing_comes):
    layer = make_layer(expiry=0.1)

    async def scenario():
        channel = await layer.new_channel()
        for name in ("channel", channel):
            await layer.send(name, {"n": 1})
        await asyncio.sleep(0.15)
        for name in ("channel", channel):
            await nothing_comes(layer, name)
            await layer.send(name, {"n": 2})
            assert (await layer.receive(name))["n"] == 2

    asyncio.run(scenario())


def test_expired_messages_do_not_fill_a_channel(make_layer):
    layer = make_layer(expiry=0.1, capacity=3)

    async def scenario():
        channel = await layer.new_channel()
        for name in ("channel", channel):
            for _ in range(3):
                await layer.send(name, {})
        await asyncio.sleep(0.15)
        for name in ("channel", channel + "other"):
            for n in range(3):
                await layer.send(name, {"n": n})
            with pytest.raises(ChannelFull):
                await layer.send(name, {})
            assert (await layer.receive(name))["n"] == 0

    asyncio.run(scenario())


# Process-specific channels


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


# Cancellation


@pytest.mark.parametrize("local", [True, False])
def test_cancelling_receive_loses_nothing(layer, local):
    """Cancelled before, at, and after the moment that the message wakes it."""

    async def scenario():
        channel = await layer.new_channel() if local else "channel"
        for steps in range(6):
            received = asyncio.create_task(layer.receive(channel))
            await asyncio.sleep(0)
            await layer.send(channel, {"n": steps})
            for _ in range(steps):
                await asyncio.sleep(0)
            received.cancel()
            try:
                message = await received
            except asyncio.CancelledError:
                message = await asyncio.wait_for(layer.receive(channel), 5)
            assert message == {"n": steps}

    asyncio.run(scenario())


@pytest.mark.parametrize("local", [True, False])
def test_a_cancelled_receive_passes_its_wake_up_on(layer, local):
    async def scenario():
        channel = await layer.new_channel() if local else "channel"
        first, second = (asyncio.create_task(layer.receive(channel)) for _ in range(2))
        await asyncio.sleep(0.01)
        await layer.send(channel, {"n": 1})
        first.cancel()  # the message has woken it, but it has not run yet
        return await asyncio.wait_for(second, 0.5)  # well before the backstop

    assert asyncio.run(scenario()) == {"n": 1}


def test_waiting_leaves_nothing_behind(layer, nothing_comes):
    async def scenario():
        for n in range(20):
            await nothing_comes(layer, f"channel{n}")
        return layer.statistics()["entries"]

    assert asyncio.run(scenario()) == 0


# Groups


def test_a_group_reaches_its_members(layer, nothing_comes):
    async def scenario():
        members = [await layer.new_channel(), await layer.new_channel(), "normal"]
        for member in [*members, members[0]]:
            await layer.group_add("group", member)
        await layer.group_add("group", "gone")
        await layer.group_discard("group", "gone")
        await layer.group_discard("group", "never.there")
        await layer.group_send("group", {"n": 1})
        await layer.group_send("empty", {"n": 2})
        for member in members:
            assert await layer.receive(member) == {"n": 1}
        for member in [*members, "gone"]:
            await nothing_comes(layer, member)

    asyncio.run(scenario())


def test_group_messages_leave_nothing_behind(layer):
    async def scenario():
        members = [await layer.new_channel() for _ in range(10)]
        for member in members:
            await layer.group_add("group", member)
        for _ in range(3):
            await layer.group_send("group", {"body": bytes(100_000)})
        held = layer.statistics()["used"]
        for _ in range(3):
            for member in members:
                assert len((await layer.receive(member))["body"]) == 100_000
        for member in members:
            await layer.group_discard("group", member)
        return held, layer.statistics()["entries"]

    held, entries = asyncio.run(scenario())
    assert 300_000 < held < 400_000  # each payload once, not once a member
    assert entries == 0


def test_a_group_message_is_dropped_for_full_members_only(layer, nothing_comes):
    async def scenario():
        full, other = await layer.new_channel(), await layer.new_channel("other")
        await layer.group_add("group", full)
        await layer.group_add("group", other)
        await layer.send(full, {"n": 0})
        for n in (1, 2, 3):
            await layer.group_send("group", {"n": n})
        assert [(await layer.receive(full))["n"] for _ in range(3)] == [0, 1, 2]
        assert [(await layer.receive(other))["n"] for _ in range(3)] == [1, 2, 3]
        await nothing_comes(layer, full)

    asyncio.run(scenario())


def test_more_members_in_a_process_than_its_capacity(layer):
    async def scenario():
        members = [await layer.new_channel() for _ in range(50)]
        for member in members:
            await layer.group_add("group", member)
        await layer.group_send("group", {"n": 1})
        return [(await layer.receive(member))["n"] for member in members]

    assert asyncio.run(scenario()) == [1] * 50


def test_membership_lapses(make_layer, nothing_comes):
    layer = make_layer(group_expiry=0.1)

    async def scenario():
        await layer.group_add("group", "lapsed")
        await asyncio.sleep(0.15)
        await layer.group_add("group", "member")
        await layer.group_send("group", {"n": 1})
        assert await layer.receive("member") == {"n": 1}
        await nothing_comes(layer, "lapsed")

    asyncio.run(scenario())


def test_group_names_do_not_run_into_each_other(layer, nothing_comes):
    async def scenario():
        await layer.group_add("group", "one")
        await layer.group_add("group.two", "two")
        await layer.group_send("group", {})
        assert await layer.receive("one") == {}
        await nothing_comes(layer, "two")

    asyncio.run(scenario())


# The rest


def test_flush_empties_everything_but_those_who_wait(layer, nothing_comes):
    async def scenario():
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
        return await asyncio.wait_for(waiting, 0.5)

    assert asyncio.run(scenario()) == {"n": 1}


def test_a_closed_layer_can_be_used_again(layer, path):
    async def scenario():
        await layer.send("channel", {"n": 1})
        await layer.close()
        await layer.close()
        assert not list(path.glob("ipc*"))
        return await layer.receive("channel")

    assert asyncio.run(scenario()) == {"n": 1}


def test_closing_ends_a_receive_that_waits(layer):
    async def scenario():
        waiting = asyncio.create_task(layer.receive("channel"))
        await asyncio.sleep(0.01)
        await layer.close()
        with pytest.raises(RuntimeError, match="closed"):
            await asyncio.wait_for(waiting, 5)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda layer: layer.send("in valid", {}), TypeError),
        (lambda layer: layer.send("a" * 101, {}), TypeError),
        (lambda layer: layer.send("channel", ["no dict"]), TypeError),
        (lambda layer: layer.send("channel", {"__asgi_channel__": "x"}), ValueError),
        (lambda layer: layer.send("channel", {"what": object()}), TypeError),
        (lambda layer: layer.receive("in valid"), TypeError),
        (lambda layer: layer.receive("specific.ipc0123456789abcdef!x"), ValueError),
        (lambda layer: layer.group_add("in!valid", "channel"), TypeError),
        (lambda layer: layer.group_add("group", "in valid"), TypeError),
        (lambda layer: layer.group_discard("group", "in valid"), TypeError),
        (lambda layer: layer.group_send("in valid", {}), TypeError),
    ],
)
def test_wrong_names_and_messages_are_refused(layer, call, error):
    with pytest.raises(error):
        asyncio.run(call(layer))


def test_extensions_are_those_of_the_specification(layer):
    assert set(layer.extensions) == {"groups", "flush"}
    assert layer.group_expiry == 86400
