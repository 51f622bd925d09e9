"""Test WebSocket loads of the engine ``openloop`` with a known server: each message has exactly one outcome."""

import dataclasses

import pytest

from loadtests.engines import get, node
from loadtests.engines.base import EngineError
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.websocket_server import DIALECTS, counts

pytestmark = pytest.mark.servers

openloop = get("openloop")


@pytest.mark.parametrize("dialect", exhaustive_but(("plain", "socket.io"), DIALECTS))
def test_all_dialects_open_connections(measured, conversing, dialect):
    server = conversing(dialect, ping=50)
    result = measured(server.load("connect", rate=40, duration_s=0.5))
    assert (result.planned, result.ok, result.errors, result.deliveries) == (20, 20, {}, None)
    counted = server.counts()
    assert (counted["handshakes"], counted["close 1000"]) == (20, 20)
    assert len([name for name in counted if name.startswith("from 127.0.0.")]) == 8  # the clients use eight addresses
    assert (result.connections.requested, result.connections.opened) == (0, 0)
    assert result.connections.received_bytes > 20 * 100
    result = measured(server.load("idle", receivers=40, rate=0, duration_s=0.5))
    assert (result.planned, result.sent, result.ok, result.unfinished, result.deliveries) == (0, 0, 0, 0, None)
    found = result.connections
    assert (found.requested, found.opened, found.refused, found.lost) == (40, 40, 0, 0)
    counted = server.counts()
    assert (counted["handshakes"], counted["close 1000"]) == (60, 60)
    assert counted["pongs"] >= 40 * 5
    assert min(found.sent_bytes, found.received_bytes) > 0


def test_idle_connections_are_opened_in_steps(generating, conversing):
    server = conversing()
    prepared = generating.prepare(server.load("idle", receivers=10, steps=4, rate=0, duration_s=0.2))
    opened = [server.counts()["handshakes"]]
    for _ in range(3):
        prepared.step()
        opened.append(server.counts()["handshakes"])
    prepared.measure(0.2)
    found = prepared.result().connections
    assert tuple(opened) == found.steps == (3, 5, 8, 10)
    assert (found.requested, found.opened, found.refused, found.lost) == (10, 10, 0, 0)


def test_closed_loop_keeps_connections_busy(measured, conversing):
    server = conversing(after=100)
    result = measured(server.load("echo", connections=5, duration_s=1))
    assert result.planned == result.ok == result.deliveries.delivered
    assert (result.unfinished, result.errors) == (0, {})
    assert 25 <= result.ok <= 50
    assert server.counts()["handshakes"] == 5
    result = measured(server.load("connect", connections=3, duration_s=0.5))
    assert result.planned == result.ok == server.counts()["handshakes"] - 5 > 3
    result = measured(server.load("broadcast", receivers=3, connections=2, duration_s=0.5))
    assert result.planned == result.ok > 2
    assert (result.deliveries.expected, result.deliveries.missing) == (3 * result.ok, 0)


@pytest.mark.exhaustive
def test_processes_share_connections_and_messages(conversing):
    result = openloop.run(conversing(refuse=4).load("idle", receivers=41, rate=0, duration_s=0.2, processes=2))
    found = result.connections
    assert (found.requested, found.opened, found.refused, len(result.generator)) == (41, 31, 10, 2)
    assert found.reason == "status 503 instead of 101"
    assert found.opening_ms["max"] <= 1000 * found.opened_in_s
    server = conversing(drop=10)
    result = openloop.run(server.load("echo", rate=100, duration_s=1, connections=50, processes=2))
    assert (result.planned, result.ok, result.unfinished) == (100, 90, 10)
    assert counts(result.deliveries) == (100, 90, 10, 0, 0)
    assert (result.connections.requested, server.counts()["most on one"]) == (50, 2)  # 100 messages over 50 connections


def test_late_echo_is_still_counted(measured, conversing):
    server = conversing(late=5)  # every fifth message is delayed by 600 ms
    result = measured(server.load("echo", rate=10, duration_s=2, connections=1, timeout_s=0.2))
    # The 5th, 10th and 15th messages arrive after their timeout. The load ends before the 20th message arrives.
    assert (result.planned, result.ok, result.errors, result.unfinished) == (20, 16, {"timeout": 3}, 1)
    assert counts(result.deliveries) == (20, 19, 1, 0, 3)
    assert result.deliveries.lag_ms["max"] >= 600
    assert result.response_time_ms["max"] < result.deliveries.lag_ms["max"]


def test_lost_connection_is_reopened(measured, conversing):
    server = conversing(close=10)
    result = measured(server.load("echo", rate=50, duration_s=1, connections=1, timeout_s=30.0))
    lost, reset = result.connections.lost, result.errors["reset"]
    assert (result.planned, result.ok + reset, list(result.errors)) == (50, 50, ["reset"])
    counted = server.counts()
    # The server closes the connection after each tenth message. Messages that the client sends before it notices the
    # close are reset, too. A slow server may even receive two tenth messages over a single connection.
    assert 0 < lost <= counted["messages"] // 10
    assert lost <= reset
    assert result.examples == {"reset": "the server closed the connection with 1011 busy"}
    assert result.connections.opened == 1
    assert result.connections.reason == "the server closed the connection with 1011 busy"
    assert counted["handshakes"] in (lost, lost + 1)


def test_missing_server_is_reported(measured, conversing, unused_port):
    load = conversing().load("echo", rate=40, duration_s=0.5)
    result = measured(dataclasses.replace(load, origin=f"http://127.0.0.1:{unused_port}"))
    assert result.errors == {"refused": 20}
    assert (result.connections.opened, result.connections.refused) == (0, 10)


def test_file_limit_of_generator_ends_load(conversing, monkeypatch, tmp_path):
    few = tmp_path / "node"
    few.write_text(f'#!/bin/sh\nulimit -n 64\nexec "{node.require()}" "$@"\n', encoding="utf-8")
    few.chmod(0o700)
    monkeypatch.setattr(node, "require", lambda: str(few))
    with pytest.raises(EngineError, match="stopped: Error: the generator cannot open more files"):
        openloop.run(conversing().load("idle", duration_s=1, receivers=100, rate=0))
