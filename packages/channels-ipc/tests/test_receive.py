"""Test waiting for a message, and the end of waiting."""

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
async def test_cancelling_receive_loses_nothing(layer, local):
    """Cancel it before, at, and after the moment when the message wakes it."""
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
async def test_cancelled_receive_passes_wakeup_on(layer, soon, kind):
    channel = "channel" if kind == "normal" else await layer.new_channel()
    other = channel[: channel.index("!") + 1] if kind == "prefix" else channel
    first, second = asyncio.create_task(layer.receive(channel)), asyncio.create_task(layer.receive(other))
    await asyncio.sleep(0)
    await layer.send(channel, {"n": 1})
    first.cancel()  # the message has woken the task, but it has not run yet
    assert (await soon(second))["n"] == 1


async def test_waiting_leaves_nothing_behind(layer, nothing_comes):
    for n in range(20):
        await nothing_comes(layer, f"channel{n}")
    assert layer.statistics()["entries"] == 0


async def test_closing_ends_a_receive_that_waits(layer, soon):
    waiting = asyncio.create_task(layer.receive("channel"))
    await asyncio.sleep(0)
    await layer.close()
    with pytest.raises(RuntimeError, match="closed"):
        await soon(waiting)
