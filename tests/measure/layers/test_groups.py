"""Every delivery over each layer accounted for: the counting, and a short run on the real layers."""

import asyncio

import pytest

from loadtests.commands.layers import print_deliveries
from loadtests.measure.layers.groups import PROCESSES, RECEIVERS, Tally, alone, deliveries, tally, total
from loadtests.measure.layers.layer_processes import channel_layer
from loadtests.measure.layers.rounds import IPC, MEMORY, PUBSUB, REDIS

RECEIVED = PROCESSES * RECEIVERS


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ([0, 1, 2, 3], Tally(4, 4, 0, 0, 0, 0, 3)),
        ([0, 1, 3], Tally(4, 3, 1, 0, 0, 0, 3)),
        ([0, 1, 1, 2, 3], Tally(4, 5, 0, 1, 0, 0, 3)),
        ([0, 2, 1, 3], Tally(4, 4, 0, 0, 1, 0, 3)),
        ([3, 0, 1, 1], Tally(4, 4, 1, 1, 3, 0, 3)),
        ([], Tally(4, 0, 4, 0, 0, -1, -1)),
    ],
)
def test_what_is_missing_comes_twice_or_out_of_order_is_counted(numbers, found):
    assert tally(numbers, 4) == found


def test_receivers_are_added_up():
    whole, nothing = tally([0, 1, 2, 3], 4), tally([], 4)
    assert total([whole, nothing, tally([2, 2], 4)]) == Tally(12, 6, 7, 1, 0, 0, 3)
    assert total([nothing]).first == -1


def test_in_memory_a_frozen_receiver_gets_the_first_hundred_and_holds_up_nobody(capsys):
    frozen, *others = asyncio.run(alone(channel_layer(MEMORY, ""), 3, 150, 5000.0))
    assert (frozen.received, frozen.first, frozen.last) == (100, 0, 99)
    assert [one.missing for one in others] == [0, 0]


@pytest.mark.servers
def test_a_short_run_accounts_for_every_delivery_of_every_layer(monkeypatch, capsys):
    monkeypatch.delenv("REDIS_URL", raising=False)
    found = {one.name: one for one in deliveries(RECEIVED * 50, frozen_messages=150)}
    assert list(found) == [MEMORY, IPC, REDIS, PUBSUB]
    for name in (IPC, REDIS, PUBSUB):
        assert found[name].paced == (tally(list(range(50)), 50),) * RECEIVED, name
        assert [one.missing for one in found[name].other_process] == [0] * RECEIVERS
    assert found[PUBSUB].frozen == tally(list(range(150)), 150)
    assert all(0 < found[name].frozen.received < 150 for name in (MEMORY, IPC, REDIS))
    print_deliveries(list(found.values()))
    printed = capsys.readouterr().out
    assert "To a group of 10 receivers in 2 processes" in printed
    assert found[IPC].frozen.expected == 150
