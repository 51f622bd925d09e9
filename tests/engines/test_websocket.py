"""Over WebSockets, what openloop reports is what a server of known behaviour did: each message has its one end."""

import dataclasses

import pytest

from loadtests.engines import get, node
from loadtests.engines.base import EngineError
from loadtests.errors import UserError
from tests.fixtures.exhaustive import exhaustive_but
from tests.fixtures.websocket_server import DIALECTS, counts

pytestmark = pytest.mark.servers

openloop = get("openloop")


@pytest.mark.parametrize("dialect", exhaustive_but(("plain", "socket.io"), DIALECTS))
def test_an_echo_in_every_dialect(measured, conversing, dialect):
    server = conversing(dialect, after=100)
    result = measured(server.load("echo", rate=50, duration_s=1, connections=10))
    assert (result.planned, result.sent, result.completed, result.ok) == (50, 50, 50, 50)
    assert (result.unfinished, result.errors) == (0, {})
    assert 100 <= result.service_time_ms["p50"] <= result.response_time_ms["p50"]
    assert counts(result.deliveries) == (50, 50, 0, 0, 0)
    assert result.deliveries.lag_ms["p50"] >= 100
    found = result.connections
    assert (found.requested, found.opened, found.refused, found.lost, found.reason) == (10, 10, 0, 0, "")
    assert 0 < found.opening_ms["p50"] <= 1000 * found.opened_in_s
    assert server.counts()["handshakes"] == 10


@pytest.mark.parametrize("dialect", exhaustive_but(("plain", "socket.io"), DIALECTS))
def test_a_broadcast_in_every_dialect(measured, conversing, dialect):
    server = conversing(dialect, after=50)
    result = measured(server.load("broadcast", receivers=6, rooms=3, rate=50, duration_s=0.6, connections=2))
    assert (result.planned, result.ok, result.errors) == (30, 30, {})
    assert counts(result.deliveries) == (60, 60, 0, 0, 0)
    assert result.deliveries.lag_ms["p50"] >= 50
    assert result.response_time_ms["p50"] < result.deliveries.lag_ms["p50"]  # it is taken at once
    counted = server.counts()
    assert [counted[f"published in {room}"] for room in range(3)] == [10, 10, 10]
    # Each of two publishers has a connection for each of three rooms, also where one could publish in all of them.
    assert result.connections.requested == result.connections.opened == counted["handshakes"] == 6 + 2 * 3


@pytest.mark.parametrize("dialect", exhaustive_but(("plain", "socket.io"), DIALECTS))
def test_connecting_in_every_dialect(measured, conversing, dialect):
    server = conversing(dialect)
    result = measured(server.load("connect", rate=40, duration_s=0.5))
    assert (result.planned, result.ok, result.errors, result.deliveries) == (20, 20, {}, None)
    counted = server.counts()
    assert (counted["handshakes"], counted["close 1000"]) == (20, 20)
    assert len([name for name in counted if name.startswith("from 127.0.0.")]) == 8  # addresses, in turn
    assert (result.connections.requested, result.connections.opened) == (0, 0)
    assert result.connections.received_bytes > 20 * 100


@pytest.mark.parametrize("dialect", exhaustive_but(("plain", "socket.io"), DIALECTS))
def test_idle_connections_are_held_and_answer_pings(measured, conversing, dialect):
    server = conversing(dialect, ping=50)
    result = measured(server.load("idle", receivers=40, rate=0, duration_s=0.5))
    assert (result.planned, result.sent, result.ok, result.unfinished, result.deliveries) == (0, 0, 0, 0, None)
    found = result.connections
    assert (found.requested, found.opened, found.refused, found.lost) == (40, 40, 0, 0)
    counted = server.counts()
    assert (counted["handshakes"], counted["close 1000"]) == (40, 40)
    assert counted["pongs"] >= 40 * 5
    assert found.sent_bytes > 0
    assert found.received_bytes > 0


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


def test_a_closed_loop_keeps_each_connection_busy(measured, conversing):
    server = conversing(after=100)
    result = measured(server.load("echo", connections=5, duration_s=1))
    assert result.planned == result.ok
    assert (result.unfinished, result.errors) == (0, {})
    assert 25 <= result.ok <= 50
    assert result.deliveries.delivered == result.ok
    assert server.counts()["handshakes"] == 5


def test_as_many_connect_and_publish_as_a_number_of_connections_can(measured, conversing):
    server = conversing(after=20)
    result = measured(server.load("connect", connections=3, duration_s=0.3))
    assert result.planned == result.ok == server.counts()["handshakes"] > 3
    result = measured(server.load("broadcast", receivers=3, connections=2, duration_s=0.3))
    assert result.planned == result.ok > 2
    assert (result.deliveries.expected, result.deliveries.missing) == (3 * result.ok, 0)


def test_several_processes_share_connections_and_sends(conversing):
    result = openloop.run(conversing().load("idle", receivers=41, rate=0, duration_s=0.2, processes=2))
    assert (result.connections.requested, result.connections.opened, len(result.generator)) == (41, 41, 2)
    result = openloop.run(conversing(drop=10).load("echo", rate=100, duration_s=1, connections=50, processes=2))
    assert (result.planned, result.ok, result.unfinished) == (100, 90, 10)
    assert counts(result.deliveries) == (100, 90, 10, 0, 0)
    assert result.connections.requested == 50


@pytest.mark.parametrize("dialect", exhaustive_but(("plain",), ["plain", "chat"]))
def test_what_reaches_a_connection_of_another_process_is_stray(conversing, dialect):
    server = conversing(dialect, instead=5)
    result = openloop.run(server.load("echo", rate=100, duration_s=0.5, connections=2, processes=2, grace_s=0.5))
    assert (result.planned, result.ok, counts(result.deliveries)) == (50, 40, (50, 40, 10, 0, 0))
    assert result.deliveries.stray == 10


def test_connections_take_turns(measured, conversing):
    server = conversing()
    measured(server.load("echo", rate=60, duration_s=0.5, connections=6))
    assert server.counts()["most on one"] == 5


@pytest.mark.parametrize(
    ("does", "ok", "errors", "counted"),
    [
        ({"drop": 10}, 90, {}, (100, 90, 10, 0, 0)),
        ({"twice": 10}, 100, {}, (100, 100, 0, 10, 0)),
        ({"mangle": 10}, 90, {"wrong-body": 10}, (100, 90, 10, 0, 0)),
    ],
)
def test_echoes_are_counted_by_what_became_of_them(measured, conversing, does, ok, errors, counted):
    result = measured(conversing(**does).load("echo", rate=100, duration_s=1, connections=50))
    assert (result.planned, result.ok, result.errors) == (100, ok, errors)
    assert result.unfinished == 100 - ok - sum(errors.values())
    assert result.examples == dict.fromkeys(errors, "what came back is not what was sent")
    assert counts(result.deliveries) == counted
    assert (result.connections.requested, result.connections.lost) == (50, 0)


def test_an_echo_that_takes_too_long_is_given_up_and_comes_late_none_the_less(measured, conversing):
    server = conversing(late=5)  # each fifth, by 600 ms
    result = measured(server.load("echo", rate=10, duration_s=2, connections=1, timeout_s=0.2))
    # The fifth, tenth and fifteenth come after the next ones; the twentieth is not waited for.
    assert (result.planned, result.ok, result.errors, result.unfinished) == (20, 16, {"timeout": 3}, 1)
    assert counts(result.deliveries) == (20, 19, 1, 0, 3)
    assert result.deliveries.lag_ms["max"] >= 600
    assert result.response_time_ms["max"] < result.deliveries.lag_ms["max"]


def test_a_connection_that_is_lost_is_opened_again_for_the_send_that_needs_it(measured, conversing):
    server = conversing(close=10)
    result = measured(server.load("echo", rate=50, duration_s=1, connections=1))
    lost, reset = result.connections.lost, result.errors["reset"]
    assert (result.planned, result.ok + reset, list(result.errors)) == (50, 50, ["reset"])
    # Each tenth that the server gets ends its connection; a send that is due before that is known is reset as well.
    assert lost == (result.ok + lost) // 10
    assert lost <= reset < 2 * lost + 2
    assert result.examples == {"reset": "the server closed the connection with 1011 busy"}
    assert result.connections.opened == 1
    assert result.connections.reason == "the server closed the connection with 1011 busy"
    assert server.counts()["handshakes"] in (lost, lost + 1)


def test_handshakes_that_are_refused_are_errors_of_those_that_connect_and_open_no_others(measured, conversing):
    result = measured(conversing(refuse=4).load("connect", rate=40, duration_s=1))
    assert (result.planned, result.ok, result.completed, result.errors) == (40, 30, 40, {"status": 10})
    assert result.examples == {"status": "status 503 instead of 101"}
    found = measured(conversing(refuse=4).load("idle", receivers=40, rate=0, duration_s=0.2)).connections
    assert (found.requested, found.opened, found.refused, found.lost) == (40, 30, 10, 0)
    assert found.reason == "status 503 instead of 101"


@pytest.mark.parametrize("does", ["connect", "echo"])
def test_a_server_that_is_not_there(measured, conversing, unused_port, does):
    load = dataclasses.replace(
        conversing().load(does, rate=40, duration_s=0.5), origin=f"http://127.0.0.1:{unused_port}"
    )
    result = measured(load)
    assert result.errors == {"refused": 20}
    if does == "echo":
        assert (result.connections.opened, result.connections.refused) == (0, 10)


@pytest.mark.parametrize("does", ["idle", "connect"])
def test_the_generators_own_limit_is_no_fault_of_the_server(conversing, monkeypatch, tmp_path, does):
    few = tmp_path / "node"
    few.write_text(f'#!/bin/sh\nulimit -n 64\nexec "{node.require()}" "$@"\n', encoding="utf-8")
    few.chmod(0o700)
    monkeypatch.setattr(node, "require", lambda: str(few))
    held = {"idle": {"receivers": 100, "rate": 0}, "connect": {"connections": 100}}[does]
    with pytest.raises(EngineError, match="broke off: Error: the generator may have no more files open"):
        openloop.run(conversing().load(does, duration_s=1, **held))


def test_an_unknown_dialect_is_refused_before_anything_is_started(conversing, monkeypatch):
    load = conversing("plain").load("echo", rate=10)
    monkeypatch.setenv("PATH", "")  # no node to start
    for name, says in (("gopher", "; there are: action-cable, json"), ("jsn", "; did you mean json")):
        with pytest.raises(UserError, match=f"^unknown dialect '{name}'{says}"):
            openloop.run(dataclasses.replace(load, conversation=dataclasses.replace(load.conversation, dialect=name)))
