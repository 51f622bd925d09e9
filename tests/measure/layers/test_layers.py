"""The benchmark of the layers: its arithmetic, every delivery accounted for, and short runs on the real layers."""

import asyncio
import os
import signal
import socket
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from loadtests.commands.layers import print_deliveries
from loadtests.errors import UserError
from loadtests.measure.layers import rounds
from loadtests.measure.layers.groups import PROCESSES, RECEIVERS, Tally, alone, deliveries, tally, total
from loadtests.measure.layers.layer_processes import channel_layer, redis_server
from loadtests.measure.layers.round_trips import Trips, measure, over_layer, over_socket, to_round
from loadtests.measure.layers.rounds import IPC, MEMORY, PIPES, PUBSUB, REDIS, SOCKET
from tests.fixtures.waiting import wait_for

RECEIVED = PROCESSES * RECEIVERS


def layer(name, *figures):
    return rounds.LayerResult(
        name, tuple(rounds.LayerRound(p50, p50 * 2, rate, 1e6 / rate, 100, 99) for p50, rate in figures)
    )


def test_figures_are_medians_of_rounds_and_ratios_are_taken_within_rounds():
    layers = (
        layer(SOCKET, (10, 90_000), (20, 80_000), (30, 70_000)),
        layer(IPC, (100, 9_000), (200, 6_000), (120, 8_000)),
        layer(REDIS, (1000, 900), (1000, 600), (600, 400)),
    )
    found = rounds.LayersReport(layers, cores=(0, 1), duration_s=2.0, in_flight=64, body_bytes=1000).to_dict()
    assert found["ipc_to_redis"] == {
        "round_trips_per_second": 10,  # of 10, 10 and 20
        "p50": 0.2,  # of 0.1, 0.2 and 0.2
        "cpu": pytest.approx(0.1),
        "holds_the_bar": True,
    }
    assert [len(one["rounds"]) for one in found["layers"]] == [3, 3, 3]
    assert found["layers"][1]["round_trip_us"] == {"p50": 120, "p99": 240}
    assert (layers[1].median("per_second"), layers[1].sent, layers[1].delivered) == (8_000, 300, 297)


def test_a_round_counts_what_was_lost_and_has_no_figure_where_nothing_came_back():
    apart = Trips(sent=3, took=[0.001, 0.001], elapsed=1.0)
    together = Trips(sent=10, took=[0.01] * 8, elapsed=2.0, cpu=0.004)
    expected = rounds.LayerRound(p50_us=1000, p99_us=1000, per_second=4, cpu_us=500, sent=13, delivered=10)
    assert to_round(apart, together) == expected
    for nothing in ((Trips(sent=1), together), (apart, Trips(sent=64))):
        with pytest.raises(ValueError, match="no message came back within 5 s"):
            to_round(*nothing)


class Mirror:
    """A channel layer on which every message is answered at once."""

    async def new_channel(self):
        return "reply"

    async def send(self, channel, message):
        pass

    async def receive(self, channel):
        return {}


def test_each_that_may_be_under_way_makes_a_trip_however_little_time_there_was():
    assert asyncio.run(over_layer(Mirror(), b"body", 1e-9, 64)).sent == 64
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"body" * 3)
        trips = over_socket(ours, b"body", 1e-9, 3)
    assert (trips.sent, len(trips.took)) == (3, 3)


def test_without_any_redis_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.delenv("REDIS_URL", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with (
        pytest.raises(UserError, match="set REDIS_URL, or install redis-server, or run 'make setup'"),
        redis_server(tmp_path, [0]),
    ):
        pass


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


def test_in_memory_a_frozen_receiver_gets_the_first_hundred_and_holds_up_nobody():
    frozen, *others = asyncio.run(alone(channel_layer(MEMORY, ""), 3, 150, 5000.0))
    assert (frozen.received, frozen.first, frozen.last) == (100, 0, 99)
    assert [one.missing for one in others] == [0, 0]


@pytest.mark.exhaustive
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
    assert "To a group of 10 receivers in 2 processes" in capsys.readouterr().out


@pytest.mark.servers
def test_a_short_run_delivers_everything_and_leaves_nothing(monkeypatch):
    monkeypatch.delenv("REDIS_URL", raising=False)
    seen, folders = [], []

    def make_folder(**options):
        folders.append(mkdtemp(**options))
        return folders[-1]

    mkdtemp = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", make_folder)
    before = psutil.Process().children()
    report = measure(duration_s=0.1, rounds=1, progress=lambda *step: seen.append(step))
    assert [one.name for one in report.layers] == [SOCKET, PIPES, MEMORY, IPC, REDIS]
    assert all(one.delivered == one.sent > report.in_flight for one in report.layers)
    assert seen == [(SOCKET, 0, 5), (PIPES, 1, 5), (MEMORY, 2, 5), (IPC, 3, 5), (REDIS, 4, 5)]
    assert psutil.Process().children() == before
    assert len(folders) == 5
    assert not [folder for folder in folders if os.path.exists(folder)]


@pytest.mark.servers
def test_what_a_killed_one_leaves_is_removed_when_the_next_one_starts(cli):
    def begin():
        process = cli.start("layers")
        return process, wait_for(lambda: list(Path("/dev/shm").glob(f"bench-layers-{process.pid}-*")))[0]

    killed, left = begin()
    killed.kill()
    killed.communicate()
    assert left.exists()
    process, _ = begin()
    assert not left.exists()
    process.send_signal(signal.SIGINT)
    process.communicate()
    cli.wait_until_nothing_runs()
