"""Test that the store doesn't grow with the number of messages, unlike the store of the IPC layer of 2016."""

import asyncio

import pytest


@pytest.mark.parametrize("size", [10, 3_000, 30_000])
async def test_reply_channels_leave_no_entries(make_layer, size):
    layer = make_layer()
    body = bytes(size)
    files = []

    async def round_trips(count):
        for n in range(count):
            reply = await layer.new_channel()
            await layer.send("request", {"n": n, "reply": reply, "body": body})
            request = await layer.receive("request")
            await layer.send(request["reply"], {"n": n, "body": body})
            assert (await layer.receive(reply))["n"] == n

    for count in (500, 1_500):
        await round_trips(count)
        files.append(layer.statistics()["file"])
    assert layer.statistics()["entries"] == 0
    assert files[1] == files[0]


async def test_unread_late_answers_are_removed(make_layer):
    """Check that expired messages on abandoned channels are removed while other messages stay in the store."""
    layer, brief = make_layer(capacity=1_000), make_layer(capacity=1_000, expiry=0.001)
    held = []
    for n in range(1_000):
        await layer.send("request", {"n": n})
    for n in range(4_000):
        await brief.send(await brief.new_channel(), {"late": True})
        await brief.send(f"abandoned{n % 200}", {"late": True})
        held.append(layer.statistics()["entries"])
    await asyncio.sleep(0.002)
    for n in range(1_000):
        assert (await layer.receive("request"))["n"] == n
        await layer.group_add("group", "nobody")
    await layer.group_discard("group", "nobody")
    assert layer.statistics()["entries"] == 0
    assert max(held) < 5_000  # the 1,000 unexpired messages, and less than half of the 8,000 expired messages


@pytest.mark.parametrize("size", [500, 3_000, 300_000])
def test_completely_full_store_can_be_emptied(start, size):
    """Check that all messages can be received. Receiving writes pages too, so ``send`` must leave enough free pages."""
    process = start(
        f"""
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 * 2**20, 3 * 2**20))  # simulates a full file system
    async def main():
        for _ in range(2):
            sent = 0
            try:
                while True:
                    await layer.send("channel", {{"n": sent, "body": bytes({size})}})
                    sent += 1
            except ChannelFull:
                pass
            assert sent * {size} > 10**6
            for n in range(sent):
                assert (await layer.receive("channel"))["n"] == n
        print("well")
    asyncio.run(main())
    """,
        capacity=10**9,
    )
    assert process.communicate(timeout=60)[0] == "well\n"
