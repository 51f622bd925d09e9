"""What tests of WebSockets ask for, and of whom."""

import dataclasses

import pytest

from loadtests import setups
from loadtests.plan import kinds
from loadtests.plan.kinds.talk import in_dialect
from loadtests.plan.schedule import planned_seconds
from loadtests.plan.study import load as study_of
from loadtests.plan.study import parse
from tests.fixtures.conversations import TABLES, conversing
from tests.fixtures.studies import a_test, load_of


@pytest.mark.parametrize("kind", TABLES)
def test_a_load_is_a_conversation_with_its_own_words(kind):
    test = conversing(kind)
    load = load_of(test)
    assert (load.protocol, load.conversation.does) == ("websocket", kind.removesuffix("-throughput"))
    assert [one.path for one in load.requests] == ["/ws/"]
    labels = [metric.label for metric in test.judged]
    assert "request" not in " ".join((test.description, test.condition, test.kind.heading, test.kind.about, *labels))
    assert test.same_as(conversing(kind))
    assert not test.same_as(conversing(kind, size=100))


def test_a_rate_has_random_moments_and_a_closed_loop_none():
    echo, loop = conversing("echo"), load_of(conversing("echo-throughput"))
    assert (load_of(echo).rate, load_of(echo).arrival_seed) == (300, 7)
    assert echo.description == "echoes of 64 B at 300 messages per second, at random moments, over 50 connections"
    assert load_of(conversing("echo", arrivals="even")).arrival_seed is None
    assert (loop.rate, loop.connections) == (None, 50)
    assert load_of(conversing("idle")).rate == 0


def test_a_broadcast_has_receivers_in_rooms_and_publishers():
    test = conversing("broadcast", rooms=10, publishers=2, size=4096)
    said = load_of(test).conversation
    assert (said.receivers, said.rooms, said.size, load_of(test).connections) == (50, 10, 4096, 2)
    assert test.condition == "at 20 messages/s"


@pytest.mark.parametrize(
    ("duration", "tail"), [("50s", ["lag_p99_ms"]), ("49s", ["lag_p95_ms"]), ("10s", ["lag_p95_ms"]), ("9s", [])]
)
def test_the_lag_is_judged_as_far_out_as_its_messages_know_it(duration, tail):
    """Twenty a second, whatever the number of receivers."""
    test = conversing("broadcast", duration=duration, receivers=10_000)
    assert [metric.name for metric in test.judged] == ["lag_p50_ms", *tail, "last_p50_ms", "cpu_us_per_delivery"]
    assert test.decisive.name == (tail or ["lag_p50_ms"])[0]


def test_connections_are_opened_at_a_rate_or_as_many_as_can_be():
    assert conversing("connect").condition == "at 100 connections/s"
    test = a_test("connect", duration="10s", connections=20)
    assert (load_of(test).rate, load_of(test).connections, test.fixed_rate) == (None, 20, None)
    assert test.description == "WebSocket handshakes, 20 at a time"
    assert test.at_rate(5.0) == test
    assert [metric.name for metric in test.judged] == ["opened_per_s", "cpu_ms_per_connection"]


@pytest.mark.parametrize(
    ("kind", "finds_it"),
    [
        ("connect", "WebSocket handshakes, 16 at a time"),
        ("echo", "echoes of 64 B as fast as 16 connections can"),
        ("broadcast", "broadcasts of 64 B to 50 receivers as fast as they are taken"),
    ],
)
def test_a_rate_that_is_left_to_the_run_is_a_share_of_what_the_slowest_does(kind, finds_it):
    test = conversing(kind, rate="auto", share=0.25)
    assert test.description.startswith(f"{test.short_description} at 25% of what the slowest setup holds")
    assert test.ceiling_test.description.startswith(finds_it)
    settled = test.at_ceiling(1234.0)
    assert settled.ceiling_test is None
    assert (settled.pace.rate, load_of(settled).rate) == (310, 310)


@pytest.mark.parametrize(
    ("consumer", "prefix", "dialect", "demands"),
    [
        ("async", "/ws/", "plain", {"websocket"}),
        ("sync", "/ws/sync/", "plain", {"websocket", "sync-consumer"}),
        ("json", "/ws/json/", "json", {"websocket", "json-consumer"}),
    ],
)
def test_a_consumer_has_a_prefix_and_is_a_demand_and_a_setup_may_have_another_dialect(
    consumer, prefix, dialect, demands
):
    test = conversing("echo", consumer=consumer)
    load = load_of(test)
    assert (load.conversation.prefix, load.conversation.dialect, load.requests[0].path) == (prefix, dialect, prefix)
    assert test.work.setup_features == demands
    assert (consumer in test.description) == (consumer != "async")
    assert in_dialect(load, "") == in_dialect(load, "plain") == load
    assert in_dialect(load, "socket.io").conversation == dataclasses.replace(load.conversation, dialect="socket.io")


def test_what_is_compressed_is_not_compared_with_what_can_not_be():
    demands = conversing("echo", compression=True).work.setup_features
    refusing = {setup.name for setup in setups.find(["uvicorn-channels", "ws", "socketio"]) if setup.refuses(demands)}
    assert refusing == {"ws", "socketio"}


def test_what_holds_connections_alone_is_never_measured_interleaved_and_the_others_are():
    study = parse({"setups": ["gunicorn", "uvicorn"], "tests": TABLES}, "s", "s.toml")
    assert {test.kind.name for test in study.tests if not study.interleaved(test)} == {"idle", "rejoin"}
    assert planned_seconds(study) > 2 * 2 * 4 * 10
    assert planned_seconds(study.quick()) < planned_seconds(study) / 2


def test_the_studies_hold_for_two_heartbeats_and_send_enough_to_know_more_than_the_typical_lag():
    [idle] = study_of("idle").tests
    assert (idle.pace.duration_s, load_of(idle).warmup_s) == (2 * 20, 0)
    assert idle.planned_s == dataclasses.replace(idle, warmup_s=0.0).planned_s
    tests = [*study_of("websockets").tests, *study_of("broadcast").tests]
    decisive = {test.name: test.decisive.name for test in tests if test.kind.name == "broadcast"}
    assert (decisive.pop("broadcast"), decisive.pop("crowd")) == ("lag_p95_ms", "lag_p95_ms")
    assert set(decisive.values()) == {"lag_p99_ms"}


def test_a_metric_is_reported_by_tests_that_count_what_it_is_of():
    reported = {
        kind: {metric.name for metric in kinds.every_metric() if conversing(kind).has_metric(metric)} for kind in TABLES
    }
    for kind, per in (("connect", "ms_per_connection"), ("echo", "us_per_message"), ("broadcast", "us_per_delivery")):
        assert f"cpu_{per}" in reported[kind]
        assert "cpu_ms_per_request" not in reported[kind]
    assert "lag_p99_ms" in reported["broadcast"] - reported["echo"]
    assert "rps" not in reported["echo-throughput"]
    assert not [name for name in reported["rejoin"] if "cpu" in name or "memory" in name or name.startswith("opened")]
