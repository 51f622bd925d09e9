"""What tests of WebSockets ask for, and of whom."""

import dataclasses

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.plan import kinds
from loadtests.plan.kinds.talk import in_dialect
from loadtests.plan.schedule import planned_seconds
from loadtests.plan.study import load as study_of
from loadtests.plan.study import parse
from tests.fixtures.conversations import TABLES, conversing
from tests.fixtures.studies import load_of

KINDS = tuple(TABLES)


@pytest.mark.parametrize("kind", KINDS)
def test_a_load_is_a_conversation(kind):
    found = load_of(conversing(kind))
    assert found.protocol == "websocket"
    assert found.conversation.does == kind.removesuffix("-throughput")
    assert found.conversation.dialect == "plain"
    [handshake] = found.requests
    assert handshake.path == "/ws/"


def test_a_rate_has_random_moments_and_a_closed_loop_none():
    assert (load_of(conversing("echo")).rate, load_of(conversing("echo")).arrival_seed) == (300, 7)
    assert load_of(conversing("echo", arrivals="even")).arrival_seed is None
    loop = load_of(conversing("echo-throughput"))
    assert (loop.rate, loop.connections) == (None, 50)
    assert load_of(conversing("idle")).rate == 0


def test_a_broadcast_has_receivers_in_rooms_and_publishers():
    found = load_of(conversing("broadcast", rooms=10, publishers=2, size=4096))
    said = found.conversation
    assert (said.receivers, said.rooms, said.size, found.connections) == (50, 10, 4096, 2)
    with pytest.raises(UserError, match="rooms: is 51, and there are 50 receivers: each room needs one"):
        conversing("broadcast", rooms=51)


@pytest.mark.parametrize(
    ("duration", "tail"), [("50s", ["lag_p99_ms"]), ("49s", ["lag_p95_ms"]), ("10s", ["lag_p95_ms"]), ("9s", [])]
)
def test_the_lag_is_judged_as_far_out_as_its_messages_know_it(duration, tail):
    """Twenty a second, whatever the number of receivers."""
    test = conversing("broadcast", duration=duration, receivers=10_000)
    assert [metric.name for metric in test.judged] == ["lag_p50_ms", *tail, "last_p50_ms", "cpu_us_per_delivery"]
    assert test.decisive.name == (tail or ["lag_p50_ms"])[0]


def test_connections_are_opened_at_a_rate_or_as_many_as_can_be():
    as_many = {"duration": "10s", "connections": 20}
    [test] = parse({"setups": ["gunicorn"], "tests": {"connect": as_many}}, "s", "s.toml").tests
    assert (load_of(test).rate, load_of(test).connections, test.fixed_rate) == (None, 20, None)
    assert test.description == "WebSocket handshakes, 20 at a time"
    assert test.at_rate(5.0) == test
    assert [metric.name for metric in test.judged] == ["opened_per_s", "cpu_ms_per_connection"]
    with pytest.raises(UserError, match="connections: is not a key here"):
        conversing("connect", connections=20)


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
def test_a_consumer_has_a_prefix_and_is_a_demand(consumer, prefix, dialect, demands):
    test = conversing("echo", consumer=consumer)
    assert (load_of(test).conversation.prefix, load_of(test).conversation.dialect) == (prefix, dialect)
    assert load_of(test).requests[0].path == prefix
    assert test.work.setup_features == demands
    assert (consumer in test.description) == (consumer != "async")


def test_what_is_compressed_is_not_compared_with_what_can_not_be():
    demands = conversing("echo", compression=True).work.setup_features
    refusing = {setup.name for setup in setups.find(["uvicorn-channels", "ws", "socketio"]) if setup.refuses(demands)}
    assert refusing == {"ws", "socketio"}


def test_a_setup_of_another_dialect_is_spoken_to_in_that():
    found = load_of(conversing("broadcast"))
    assert in_dialect(found, "") == in_dialect(found, "plain") == found
    other = in_dialect(found, "socket.io")
    assert other.conversation == dataclasses.replace(found.conversation, dialect="socket.io")
    json_consumer = load_of(conversing("echo", consumer="json"))
    assert in_dialect(json_consumer, "plain").conversation.dialect == "json"


@pytest.mark.parametrize("kind", KINDS)
def test_one_that_says_something_else_asks_something_else(kind):
    assert not conversing(kind).same_as(conversing(kind, size=100))
    assert conversing(kind).same_as(conversing(kind))


def test_what_holds_connections_alone_is_never_measured_interleaved_and_the_others_are():
    study = parse({"setups": ["gunicorn", "uvicorn"], "tests": TABLES}, "s", "s.toml")
    assert {test.kind.name for test in study.tests if not study.interleaved(test)} == {"idle", "rejoin"}
    assert planned_seconds(study) > 2 * 2 * 4 * 10
    assert planned_seconds(study.quick()) < planned_seconds(study) / 2


def test_idle_connections_are_held_for_two_heartbeats_and_not_warmed_up():
    [idle] = study_of("idle").tests
    assert idle.pace.duration_s == 2 * 20
    assert load_of(idle).warmup_s == 0
    assert idle.planned_s == dataclasses.replace(idle, warmup_s=0.0).planned_s


def test_the_studies_send_enough_to_know_more_than_the_typical_lag():
    [room] = [test for test in study_of("websockets").tests if test.kind.name == "broadcast"]
    assert room.decisive.name == "lag_p95_ms"
    crowd, *others = sorted(study_of("broadcast").tests, key=lambda test: test.name)
    assert (crowd.name, crowd.decisive.name) == ("crowd", "lag_p95_ms")
    assert {test.decisive.name for test in others} == {"lag_p99_ms"}


def test_what_is_counted_has_its_own_word_in_what_is_said():
    assert conversing("connect").condition == "at 100 connections/s"
    echo = conversing("echo")
    assert echo.description == "echoes of 64 B at 300 messages per second, at random moments, over 50 connections"
    assert conversing("broadcast").condition == "at 20 messages/s"
    for kind in KINDS:
        test = conversing(kind)
        words = [
            test.description,
            test.condition,
            test.kind.heading,
            test.kind.about,
            *(metric.label for metric in test.judged),
        ]
        assert "request" not in " ".join(words)


def test_a_metric_is_reported_by_tests_that_count_what_it_is_of():
    reported = {
        kind: {metric.name for metric in kinds.every_metric() if conversing(kind).has_metric(metric)} for kind in KINDS
    }
    for kind, per in (("connect", "ms_per_connection"), ("echo", "us_per_message"), ("broadcast", "us_per_delivery")):
        assert f"cpu_{per}" in reported[kind]
        assert "cpu_ms_per_request" not in reported[kind]
    assert "lag_p99_ms" in reported["broadcast"] - reported["echo"]
    assert "rps" not in reported["echo-throughput"]
    assert kinds.metric("web_cpu_us_per_delivery").label == "CPU per delivery, web"
