"""Test receivers that wait, are cancelled, or are closed."""

import asyncio

import pytest


async def test_receive_waits_for_a_message(layer, soon):
    received = asyncio.create_task(layer.receive("channel"))
    await asyncio.sleep(0.01)
    assert not received.done()
    await layer.send("channel", {"n": 1})
    assert await soon(received) == {"n": 1}


async def test_longest_waiting_receiver_gets_message(layer, soon):
    waiting = [asyncio.create_task(layer.receive("channel")) for _ in range(3)]
    await asyncio.sleep(0)
    for n in range(3):
        await layer.send("channel", {"n": n})
    assert [(await soon(task))["n"] for task in waiting] == [0, 1, 2]


@pytest.mark.parametrize("local", [True, False])
async def test_cancelled_receive_loses_no_message(layer, local):
    """Cancel ``receive`` before, at, and after the moment when a message wakes it."""
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


@pytest.mark.parametrize("kind", ["normal", "local", "prefix"])
async def test_cancelled_receive_wakes_next_receiver(layer, soon, kind):
    channel = "channel" if kind == "normal" else await layer.new_channel()
    other = channel[: channel.index("!") + 1] if kind == "prefix" else channel
    first, second = asyncio.create_task(layer.receive(channel)), asyncio.create_task(layer.receive(other))
    await asyncio.sleep(0)
    await layer.send(channel, {"n": 1})
    first.cancel()  # the task is woken by the message, but hasn't run yet
    assert (await soon(second))["n"] == 1


async def test_waiting_leaves_no_entries(layer, nothing_comes):
    for n in range(20):
        await nothing_comes(layer, f"channel{n}")
    assert layer.statistics()["entries"] == 0


async def test_closing_ends_waiting_receive(layer, soon):
    waiting = asyncio.create_task(layer.receive("channel"))
    await asyncio.sleep(0)
    await layer.close()
    with pytest.raises(RuntimeError, match="closed"):
        await soon(waiting)
