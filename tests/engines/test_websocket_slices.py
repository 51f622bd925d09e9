"""Test that WebSocket connections stay open between slices of a load, and that lost connections are reopened."""

import pytest

from tests.fixtures.waiting import wait_for

pytestmark = pytest.mark.servers


@pytest.fixture
def in_slices(generating):
    """Return a function that runs a load in a number of slices.

    The function returns the result, and a list that shows which slices waited for missing messages until the grace
    period ended.
    """

    def make(load, slices, between=lambda: None, warm_up_s=0.0, **options):
        prepared = generating.prepare(load)
        if warm_up_s:
            prepared.warm_up(warm_up_s)
        in_vain = []
        for _ in range(slices):
            in_vain.append(prepared.measure(load.duration_s / slices, **options))
            between()
        return prepared.result(), in_vain

    return make


def test_connections_stay_open_between_slices(in_slices, conversing):
    server = conversing(ping=20)

    def rest():
        before = server.counts()["pongs"]
        wait_for(lambda: server.counts()["pongs"] >= before + 6 * 3, "pings are not answered between slices")

    load = server.load("broadcast", receivers=5, rate=40, duration_s=1, connections=1)
    result, _ = in_slices(load, 2, rest)
    assert (result.planned, result.ok) == (40, 40)
    assert (result.deliveries.expected, result.deliveries.missing) == (200, 0)
    assert (result.connections.opened, result.connections.lost) == (6, 0)
    assert server.counts()["handshakes"] == 6


def test_warmup_messages_are_not_counted(in_slices, conversing):
    server = conversing(twice=2)
    load = server.load("broadcast", receivers=3, rate=40, duration_s=1, connections=1)
    result, _ = in_slices(load, 2, warm_up_s=0.5, settle_s=0.25)
    assert (result.planned, result.ok, result.billed) == (40, 40, 60)
    assert (result.deliveries.expected, result.deliveries.delivered) == (120, 120)
    assert (result.deliveries.duplicate, result.deliveries.reordered) == (60, 0)
    assert server.counts()["messages"] == 80
    assert (result.duration_s, sum(row.ok for row in result.timeline)) == (1, 40)


def test_bytes_of_all_messages_are_counted(in_slices, conversing):
    load = conversing().load("echo", rate=40, duration_s=1, connections=2, size=100)
    result, _ = in_slices(load, 2, warm_up_s=0.25, settle_s=0.25)
    assert (result.ok, result.billed) == (40, 60)
    assert result.connections.sent_bytes == 60 * (6 + 100)  # the header is 2 bytes, and the mask 4 bytes
    assert result.connections.received_bytes == 60 * (2 + 100)


@pytest.mark.parametrize(
    ("does", "receivers", "held", "ok", "deliveries"),
    [("idle", 4, 4, 0, None), ("echo", 0, 2, 20, (20, 0)), ("broadcast", 4, 6, 20, (80, 0))],
)
def test_lost_connections_reopen_before_slices(in_slices, conversing, does, receivers, held, ok, deliveries):
    server = conversing()
    load = server.load(does, receivers=receivers, rate=2 * ok, duration_s=0.5, connections=2)
    result, _ = in_slices(load, 2, server.kick)
    assert (result.connections.opened, result.connections.lost) == (held, 2 * held)
    assert result.connections.reason == "the server closed the connection with 1001 restarting"
    assert server.counts()["handshakes"] == 2 * held  # the client reopens no connection after the last slice
    assert (result.ok, result.errors) == (ok, {})
    found = result.deliveries
    assert (found and (found.expected, found.missing)) == deliveries


def test_slice_ignores_losses_before_it(in_slices, conversing):
    server = conversing(drop=60)  # drops a delivery in the second slice, and another in the third
    load = server.load("broadcast", receivers=4, rate=40, duration_s=1, connections=1, timeout_s=600.0)
    result, in_vain = in_slices(load, 4, grace_s=1.5)
    assert in_vain == [False, True, True, False]
    assert (result.deliveries.expected, result.deliveries.missing) == (160, 2)


def test_slice_does_not_await_lost_receiver(in_slices, conversing):
    server = conversing(leave=15)  # the 15th of 20 messages disconnects 1 of 4 receivers
    load = server.load("broadcast", receivers=4, rate=40, duration_s=0.5, connections=1, timeout_s=600.0)
    result, _ = in_slices(load, 1)  # waiting for lost messages would take ten minutes
    assert (result.planned, result.ok, result.connections.lost) == (20, 20, 1)
    assert (result.deliveries.expected, result.deliveries.missing) == (80, 6)


def test_all_message_sizes_are_counted(measured, conversing):
    server = conversing()
    for size in (1, 125, 126, 65_535, 65_536, 1_000_000):
        result = measured(server.load("echo", rate=10, duration_s=0.3, connections=2, size=size, timeout_s=30.0))
        assert (result.ok, result.errors, result.deliveries.missing) == (3, {}, 0)


def test_slice_ends_after_connections_are_closed(in_slices, conversing):
    server = conversing(closing=300)

    def all_closed():
        seen = server.counts()
        assert seen["ended"] == seen["handshakes"] > 0

    in_slices(server.load("connect", rate=40, connections=1, duration_s=0.2), 2, all_closed)
