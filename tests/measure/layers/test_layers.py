"""The benchmark of the layers: its arithmetic, and one short run."""

import asyncio
import os
import signal
import socket
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from loadtests.errors import UserError
from loadtests.measure.layers.layer_processes import redis_server
from loadtests.measure.layers.round_trips import Trips, measure, over_layer, over_socket, to_round
from loadtests.measure.layers.rounds import IPC, MEMORY, PIPES, REDIS, SOCKET, LayerResult, LayerRound, LayersReport
from tests.fixtures.waiting import wait_for


def layer(name, *figures):
    return LayerResult(name, tuple(LayerRound(p50, p50 * 2, rate, 1e6 / rate, 100, 99) for p50, rate in figures))


@pytest.fixture
def report():
    return LayersReport(
        layers=(
            layer(SOCKET, (10, 90_000), (20, 80_000), (30, 70_000)),
            layer(IPC, (100, 9_000), (200, 6_000), (120, 8_000)),
            layer(REDIS, (1000, 900), (1000, 600), (600, 400)),
        ),
        cores=(0, 1),
        duration_s=2.0,
        in_flight=64,
        body_bytes=1000,
    )


def test_a_layer_s_figures_are_medians_of_its_rounds(report):
    ipc = report.layer(IPC)
    assert [ipc.median(figure) for figure in ("p50_us", "p99_us", "per_second")] == [120, 240, 8_000]
    assert (ipc.sent, ipc.delivered) == (300, 297)


def test_ratios_are_taken_within_rounds(report):
    assert report.rate_ratio == 10  # of 10, 10 and 20
    assert report.median_ratio == 0.2  # of 0.1, 0.2 and 0.2
    assert report.meets_the_bar


def test_its_object_has_every_round(report):
    found = report.to_dict()
    assert found["ipc_to_redis"] == {
        "round_trips_per_second": 10,
        "p50": 0.2,
        "cpu": pytest.approx(0.1),
        "holds_the_bar": True,
    }
    assert [len(one["rounds"]) for one in found["layers"]] == [3, 3, 3]
    assert found["layers"][1]["round_trip_us"] == {"p50": 120, "p99": 240}


def test_a_round_counts_what_was_lost():
    alone = Trips(sent=3, took=[0.001, 0.001], elapsed=1.0)
    together = Trips(sent=10, took=[0.01] * 8, elapsed=2.0, cpu=0.004)
    expected = LayerRound(p50_us=1000, p99_us=1000, per_second=4, cpu_us=500, sent=13, delivered=10)
    assert to_round(alone, together) == expected


def test_where_nothing_came_back_there_is_no_figure():
    some = Trips(sent=3, took=[0.001], elapsed=1.0)
    for alone, together in ((Trips(sent=1), some), (some, Trips(sent=64))):
        with pytest.raises(ValueError, match="no message came back within 5 s"):
            to_round(alone, together)


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
