"""Test the keys and metrics of WebSocket tests: lags, the last receiver, and the generator's delays."""

import dataclasses
import math
from collections import Counter

import pytest

from loadtests.plan import kinds
from loadtests.plan.kinds.talk import in_dialect
from loadtests.plan.schedule import planned_seconds
from loadtests.plan.study import parse
from loadtests.records.histogram import Histogram
from loadtests.records.result import NOTHING
from tests.fixtures.conversations import TABLES, conversing, delivering
from tests.fixtures.studies import load_of


@pytest.mark.parametrize("kind", TABLES)
def test_websocket_load_is_a_conversation(kind):
    test = conversing(kind)
    load = load_of(test)
    assert (load.protocol, load.conversation.does) == ("websocket", kind.removesuffix("-throughput"))
    assert [one.path for one in load.requests] == ["/ws/"]
    assert test.same_as(conversing(kind))
    assert not test.same_as(conversing(kind, size=100))


def test_only_fixed_rates_have_random_arrivals():
    echo, loop = conversing("echo"), load_of(conversing("echo-throughput"))
    assert (load_of(echo).rate, load_of(echo).arrival_seed) == (300, 7)
    assert echo.description == "echoes of 64 B at 300 messages per second, at random moments, over 50 connections"
    assert load_of(conversing("echo", arrivals="even")).arrival_seed is None
    assert (loop.rate, loop.connections) == (None, 50)
    assert load_of(conversing("idle")).rate == 0


@pytest.mark.parametrize(
    ("duration", "tail"), [("50s", ["lag_p99_ms"]), ("49s", ["lag_p95_ms"]), ("10s", ["lag_p95_ms"]), ("9s", [])]
)
def test_number_of_messages_limits_lag_percentiles(duration, tail):
    """At a fixed rate, the duration sets the number of messages. The number of receivers doesn't matter."""
    test = conversing("broadcast", duration=duration, receivers=10_000)
    assert [metric.name for metric in test.judged] == ["lag_p50_ms", *tail, "last_p50_ms", "cpu_us_per_delivery"]
    assert test.decisive.name == (tail or ["lag_p50_ms"])[0]


@pytest.mark.parametrize("kind", ["connect", "echo", "broadcast"])
def test_auto_rate_depends_on_slowest_setup(kind):
    test = conversing(kind, rate="auto", share=0.25)
    assert test.description.startswith(f"{test.short_description} at 25% of the slowest setup's ceiling")
    settled = test.at_ceiling(1234.0)
    assert settled.ceiling_test is None
    assert (settled.pace.rate, load_of(settled).rate) == (310, 310)


def test_setup_determines_the_dialect():
    load = load_of(conversing("echo"))
    assert (load.conversation.prefix, load.requests[0].path) == ("/ws/", "/ws/")
    assert in_dialect(load, "") == in_dialect(load, "plain") == load
    assert in_dialect(load, "socket.io").conversation == dataclasses.replace(load.conversation, dialect="socket.io")


def test_only_idle_tests_run_sequentially():
    study = parse({"setups": ["gunicorn", "uvicorn"], "tests": TABLES}, "s", "s.toml")
    assert {test.tag for test in study.tests if not study.interleaved(test)} == {"idle"}
    assert planned_seconds(study) > 2 * 2 * 4 * 10
    assert planned_seconds(study.quick()) < planned_seconds(study) / 2


SENT = dict.fromkeys(("planned", "sent", "ok"), 1000)


@pytest.fixture
def broadcast(build_run):
    """Return a function that returns a broadcast trial whose result and deliveries have these fields."""
    run = build_run(labels=("gunicorn",), tests=(conversing("broadcast"),), blocks=1, change=delivering())
    [trial] = run.trials()

    def changed(deliveries=None, **fields):
        delivered = dataclasses.replace(trial.result.deliveries, **deliveries or {})
        return dataclasses.replace(trial, result=dataclasses.replace(trial.result, deliveries=delivered, **fields))

    return changed


def read(name, trial):
    return kinds.metric(name).read(trial)


def test_unsent_messages_are_infinitely_late(broadcast):
    sent, held_up = broadcast(**SENT), broadcast(planned=1000, sent=900)
    assert (read("lag_p99_ms", sent), read("delivered_percent", sent)) == (sent.result.deliveries.lag_ms["p99"], 100)
    assert read("lag_p50_ms", held_up) == pytest.approx(4, rel=0.05)
    assert read("lag_p99_ms", held_up) == math.inf
    assert read("delivered_percent", held_up) == pytest.approx(90)


def test_incomplete_message_is_infinitely_late(broadcast):
    whole = broadcast(**SENT)
    assert read("last_p99_ms", whole) == whole.result.deliveries.last_ms["p99"]
    lacking = broadcast({"whole": 980}, planned=1000, sent=1000)
    assert read("last_p50_ms", lacking) == pytest.approx(8, rel=0.05)
    assert read("last_p99_ms", lacking) == math.inf
    assert read("last_p50_ms", broadcast(planned=2500, sent=1000)) == math.inf
    older = {"messages": None, "whole": None, "last_ms": None}
    assert read("last_p50_ms", broadcast(older, planned=1000, sent=1000)) is None


def test_lag_with_late_reading_is_unknown(broadcast):
    """The generator may cause up to a quarter of the lag. The lag is 4 ms, and 8 ms for the last receiver."""

    def known(lain_ms, latest_ms, share=0.5):
        count = round(10_000 * share)
        histogram = Counter({round(lain_ms * 1000): 10_000 - count, round(latest_ms * 1000): count})
        kept = {**broadcast().result.histograms, "reading_lag": Histogram(3, 3_600_000_000, histogram).encode()}
        lag_ms = {**NOTHING, "p50": lain_ms, "p99": lain_ms}
        trial = broadcast({"reading_lag_ms": lag_ms}, **SENT, histograms=kept)
        return {name for name in ("lag_p50_ms", "lag_p99_ms", "last_p50_ms") if read(name, trial)}

    everything = {"lag_p50_ms", "lag_p99_ms", "last_p50_ms"}
    assert known(0.9, 0.9) == everything
    assert known(1.1, 1.1) == {"last_p50_ms"}
    # With ten receivers, one delivery in fifteen takes longer than the last receiver's median delay.
    assert known(0.1, 2.04, share=0.05) == everything
    assert known(0.1, 2.04, share=0.08) == everything - {"last_p50_ms"}


def test_bytes_are_divided_by_messages(broadcast):
    settled = {"ok": 1000, "billed": 1500}
    # The 3,000,000 bytes belong to 10,000 measured deliveries and to 5,000 deliveries during the settling time.
    assert read("wire_bytes_per_delivery", broadcast({"in_time": 9990}, **settled)) == pytest.approx(200)
    assert read("wire_bytes_per_delivery", broadcast(**settled)) == pytest.approx(300)  # in older runs


def test_sustained_broadcast_counts_deliveries(broadcast):
    asking = conversing("broadcast", rate="auto").ceiling_test
    assert (load_of(asking).rate, load_of(asking).arrival_seed, asking.fixed_rate) == (None, None, None)
    assert asking.decisive.name == "deliveries_per_s"
    # For 10 s, 500 messages a second were accepted, but only 2,500 deliveries a second arrived on time. A message needs
    # 50 deliveries.
    assert asking.sustained_rate(broadcast({"in_time": 25_000}, rate=500.0, duration_s=10.0)) == 50


def test_failing_broadcast_sustains_nothing(broadcast):
    asking = conversing("echo", rate="auto").ceiling_test
    assert asking.sustained_rate(broadcast(rate=500.0)) == 500
    assert asking.sustained_rate(broadcast(rate=500.0, planned=1000, errors={"status": 2})) is None


@pytest.mark.parametrize(
    ("kind", "counts", "objective", "other"),
    [
        ("connect-capacity", "connections", "p99<50ms, errors<0.1%", "p95<50ms"),
        ("echo-capacity", "messages", "p99<50ms, errors<0.1%", "p95<50ms"),
        ("broadcast-capacity", "deliveries", "lag p99<100ms, missing<0.01%, errors<0.1%", "lag p95<100ms"),
    ],
)
def test_search_uses_counted_units(kind, counts, objective, other):
    test = conversing(kind)
    found, plan = test.search
    assert (str(found), plan.unit, test.kind.cost_unit.plural) == (objective, f"{counts}/s", counts)
    assert (plan.short_s, plan.long_s, plan.precision) == (1, 2, 0.03)
    assert test.decisive.unit == f"{counts}/s"
    assert (test.fixed_rate, test.can_interleave) == (None, False)
    load = load_of(test)
    assert (load.conversation.does, load.arrival_seed, load.duration_s) == (kind.removesuffix("-capacity"), 7, 1)
    assert test.same_as(conversing(kind, probe="5s"))
    for another in ({"objective": other}, {"size": 100}, {"precision": 0.1}):
        assert not test.same_as(conversing(kind, **another))


def test_broadcast_rates_count_deliveries():
    test = conversing("broadcast-capacity")  # 20 receivers in two rooms, so each message has ten deliveries
    load = load_of(test)
    assert (test.pace.start_rate, load.rate, load.connections) == (2000, 200, 1)
    assert load.counts_each == 10
    assert load.timeout_s == 2  # a probe waits only 2 s for lost messages
    assert load_of(conversing("broadcast-capacity", objective="lag p99<5s")).timeout_s == 10
    plan = test.search[1]
    assert plan.requests == 10 * 1000  # a p99 needs a thousand messages, for any number of receivers
    assert plan.probe_s(2000.0, 1.0) == 5.0
