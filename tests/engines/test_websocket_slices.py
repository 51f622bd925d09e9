"""A load over WebSockets in slices: what is held stays open in between, and is opened again where it was lost."""

import pytest

from loadtests.engines import get
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.waiting import wait_for

pytestmark = pytest.mark.servers

openloop = get("openloop")


def in_slices(load, slices, between=lambda: None):
    """The result of a load that is made in that number of slices."""
    with openloop.generator() as maker:
        prepared = maker.prepare(load)
        for _ in range(slices):
            prepared.measure(load.duration_s / slices)
            between()
        return prepared.result()


def test_connections_stay_open_and_answer_pings_between_slices(conversing):
    server = conversing(ping=20)

    def rest():
        before = server.counts()["pongs"]
        wait_for(lambda: server.counts()["pongs"] >= before + 6 * 3, "pings are not answered between slices")

    result = in_slices(server.load("broadcast", receivers=5, rate=40, duration_s=1, connections=1), 2, rest)
    assert (result.planned, result.ok) == (40, 40)
    assert (result.deliveries.expected, result.deliveries.missing) == (200, 0)
    assert (result.connections.opened, result.connections.lost) == (6, 0)
    assert server.counts()["handshakes"] == 6


@pytest.mark.parametrize("does", ["echo", "broadcast"])
def test_what_is_sent_to_settle_and_to_warm_up_is_no_delivery(conversing, does):
    server = conversing(twice=2)
    load = server.load(does, receivers=3 * (does == "broadcast"), rate=40, duration_s=1, connections=2)
    with openloop.generator() as maker:
        prepared = maker.prepare(load)
        prepared.warm_up(0.5)
        for _ in range(2):
            prepared.measure(0.5, settle_s=0.25)
        result = prepared.result()
    each = 3 if does == "broadcast" else 1
    assert (result.planned, result.ok, result.billed) == (40, 40, 60)
    assert (result.deliveries.expected, result.deliveries.delivered) == (40 * each, 40 * each)
    assert result.deliveries.duplicate == 20 * each
    assert result.deliveries.reordered == 0
    assert server.counts()["messages"] == 80


@pytest.mark.parametrize("does", ["idle", "echo", "broadcast"])
def test_what_was_lost_is_opened_again_before_the_next_slice(conversing, does):
    server = conversing()
    receivers = 0 if does == "echo" else 4
    rate = 0 if does == "idle" else 40
    load = server.load(does, receivers=receivers, rate=rate, duration_s=0.5, connections=2)
    result = in_slices(load, 2, server.kick)
    held = {"idle": 4, "echo": 2, "broadcast": 6}[does]
    assert (result.connections.opened, result.connections.lost) == (held, 2 * held)
    assert result.connections.reason == "the server closed the connection with 1001 restarting"
    assert server.counts()["handshakes"] == 2 * held  # after the last slice nobody needs them
    assert (result.ok, result.errors) == (20 if rate else 0, {})
    if result.deliveries is not None:
        assert (result.deliveries.expected, result.deliveries.missing) == (20 * max(receivers, 1), 0)


def test_a_slice_does_not_wait_for_what_an_earlier_one_lost(conversing):
    server = conversing(drop=60)  # one delivery of the second slice, and one of the third
    load = server.load("broadcast", receivers=4, rate=40, duration_s=1, connections=1, timeout_s=600.0)
    with openloop.generator() as maker:
        prepared = maker.prepare(load)
        in_vain = [prepared.measure(0.25, grace_s=1.5) for _ in range(4)]
        result = prepared.result()
    assert in_vain == [False, True, True, False]
    assert (result.deliveries.expected, result.deliveries.missing) == (160, 2)


def test_a_slice_waits_no_longer_than_its_grace_and_says_whether_that_was_in_vain(conversing):
    server = conversing(drop=15)  # one of the second ten messages
    load = server.load("echo", rate=40, duration_s=0.75, connections=2, timeout_s=600.0)
    with openloop.generator() as maker:
        prepared = maker.prepare(load)
        in_vain = [prepared.measure(0.25, grace_s=0.3) for _ in range(3)]
        result = prepared.result()
    assert in_vain == [False, True, True]
    assert (result.planned, result.sent, result.ok, result.unfinished) == (30, 30, 28, 2)


def test_a_slice_does_not_wait_for_what_a_lost_receiver_lacks(conversing):
    server = conversing(leave=15)  # with the fifteenth of twenty messages one of four receivers is lost
    load = server.load("broadcast", receivers=4, rate=40, duration_s=0.5, connections=1, timeout_s=600.0)
    with openloop.generator() as maker:
        prepared = maker.prepare(load)
        prepared.measure(0.5)  # for ten minutes, where it waits for what is lost
        result = prepared.result()
    assert (result.planned, result.ok, result.connections.lost) == (20, 20, 1)
    assert (result.deliveries.expected, result.deliveries.missing) == (80, 6)


def test_bytes_are_those_of_all_that_is_billed(conversing):
    server = conversing()
    load = server.load("echo", rate=40, duration_s=1, connections=2, size=100)
    with openloop.generator() as maker:
        prepared = maker.prepare(load)
        prepared.warm_up(0.25)
        for _ in range(2):
            prepared.measure(0.5, settle_s=0.25)
        result = prepared.result()
    assert (result.ok, result.billed) == (40, 60)
    assert result.connections.sent_bytes == 60 * (6 + 100)  # a header of 2 bytes and a mask of 4
    assert result.connections.received_bytes == 60 * (2 + 100)


@pytest.mark.parametrize("size", exhaustive_but((64, 126, 70_000), [1, 64, 126, 4096, 70_000, 1_000_000]))
def test_messages_of_every_size(measured, conversing, size):
    server = conversing()
    result = measured(server.load("echo", rate=10, duration_s=0.5, connections=2, size=size, timeout_s=30.0))
    assert (result.ok, result.errors, result.deliveries.missing) == (5, {}, 0)


@pytest.mark.parametrize("rate", [40, None])
def test_a_slice_of_connecting_waits_until_all_is_closed(conversing, rate):
    server = conversing(closing=300)
    load = server.load("connect", rate=rate, connections=1, duration_s=0.2)
    with openloop.generator() as maker:
        prepared = maker.prepare(load)
        for _ in range(2):
            prepared.measure(0.1)
            seen = server.counts()
            assert seen["ended"] == seen["handshakes"] > 0
        prepared.result()
