"""Test groups whose members are in a single process."""

import asyncio


async def test_group_message_reaches_all_members(layer, nothing_comes):
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


async def test_group_messages_leave_no_entries(layer):
    members = [await layer.new_channel() for _ in range(10)]
    for member in members:
        await layer.group_add("group", member)
    for _ in range(3):
        await layer.group_send("group", {"body": bytes(100_000)})
    assert layer.statistics()["entries"] == 10  # the members
    for _ in range(3):
        for member in members:
            assert len((await layer.receive(member))["body"]) == 100_000
    for member in members:
        await layer.group_discard("group", member)
    assert layer.statistics()["entries"] == 0


async def test_group_message_skips_full_members(layer, nothing_comes):
    full, other = await layer.new_channel(), await layer.new_channel("other")
    await layer.group_add("group", full)
    await layer.group_add("group", other)
    await layer.send(full, {"n": 0})
    for n in (1, 2, 3):
        await layer.group_send("group", {"n": n})
    assert [(await layer.receive(full))["n"] for _ in range(3)] == [0, 1, 2]
    assert [(await layer.receive(other))["n"] for _ in range(3)] == [1, 2, 3]
    await nothing_comes(layer, full)


async def test_group_messages_ignore_prefix_capacity(layer):
    members = [await layer.new_channel() for _ in range(50)]
    for member in members:
        await layer.group_add("group", member)
    await layer.group_send("group", {"n": 1})
    assert [(await layer.receive(member))["n"] for member in members] == [1] * 50


async def test_membership_expires(make_layer, receive_now, nothing_comes):
    layer, brief = make_layer(), make_layer(group_expiry=0.02)
    await layer.group_add("group", "member")
    await brief.group_add("group", "lapsed")
    await layer.group_send("group", {"n": 1})
    await receive_now(layer, "lapsed")
    await asyncio.sleep(0.03)
    await layer.group_send("group", {"n": 2})
    assert [(await layer.receive("member"))["n"] for _ in range(2)] == [1, 2]
    await nothing_comes(layer, "lapsed")


async def test_flushed_group_has_no_members(layer, nothing_comes):
    name = await layer.new_channel()
    await layer.group_add("group", name)
    await layer.group_send("group", {})
    await layer.flush()
    await layer.group_send("group", {})
    await nothing_comes(layer, name)


async def test_groups_with_similar_names_are_separate(layer, nothing_comes):
    await layer.group_add("group", "one")
    await layer.group_add("group.two", "two")
    await layer.group_send("group", {})
    assert await layer.receive("one") == {}
    await nothing_comes(layer, "two")
