"""What is read off broadcasts and connections that come back: lags, who is last, and what the generator hides."""

import dataclasses
import math
from collections import Counter

import pytest

from loadtests.plan import kinds
from loadtests.records.histogram import Histogram
from loadtests.records.result import NOTHING
from tests.fixtures.conversations import conversing, delivering, holding, rejoining
from tests.fixtures.results import histogram_of
from tests.fixtures.studies import load_of

SENT = dict.fromkeys(("planned", "sent", "ok"), 1000)


@pytest.fixture
def broadcast(build_run):
    """A function: a trial of a broadcast whose result, and the deliveries in it, have those fields."""
    run = build_run(labels=("gunicorn",), tests=(conversing("broadcast"),), blocks=1, change=delivering())
    [trial] = run.trials()

    def changed(deliveries=None, **fields):
        delivered = dataclasses.replace(trial.result.deliveries, **deliveries or {})
        return dataclasses.replace(trial, result=dataclasses.replace(trial.result, deliveries=delivered, **fields))

    return changed


def read(name, trial):
    return kinds.metric(name).read(trial)


def test_messages_that_were_never_sent_rank_as_infinitely_late(broadcast):
    sent, held_up = broadcast(**SENT), broadcast(planned=1000, sent=900)
    assert (read("lag_p99_ms", sent), read("delivered_percent", sent)) == (sent.result.deliveries.lag_ms["p99"], 100)
    assert read("lag_p50_ms", held_up) == pytest.approx(4, rel=0.05)
    assert read("lag_p99_ms", held_up) == math.inf
    assert read("delivered_percent", held_up) == pytest.approx(90)


def test_the_last_receiver_is_infinitely_late_where_one_lacks_the_message(broadcast):
    whole = broadcast(**SENT)
    assert read("last_p99_ms", whole) == whole.result.deliveries.last_ms["p99"]
    lacking = broadcast({"whole": 980}, planned=1000, sent=1000)
    assert read("last_p50_ms", lacking) == pytest.approx(8, rel=0.05)
    assert read("last_p99_ms", lacking) == math.inf
    assert read("last_p50_ms", broadcast(planned=2500, sent=1000)) == math.inf
    older = {"messages": None, "whole": None, "last_ms": None}
    assert read("last_p50_ms", broadcast(older, planned=1000, sent=1000)) is None


def test_a_lag_that_may_be_the_generators_reading_is_not_known(broadcast):
    """A quarter of 4 ms, which the lag is, and of 8 ms, which the last receiver takes."""

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
    # Of ten receivers, the last is as late in the middle as one reading in fifteen is.
    assert known(0.1, 2.04, share=0.05) == everything
    assert known(0.1, 2.04, share=0.08) == everything - {"last_p50_ms"}


def test_bytes_are_shared_among_all_that_took_them(broadcast):
    settled = {"ok": 1000, "billed": 1500}
    # 3,000,000 bytes for 10,000 deliveries and for the half more that were sent while it settled.
    assert read("wire_bytes_per_delivery", broadcast({"in_time": 9990}, **settled)) == pytest.approx(200)
    assert read("wire_bytes_per_delivery", broadcast(**settled)) == pytest.approx(300)  # an older run has none of those


def test_what_holds_a_broadcast_is_what_was_delivered_and_not_what_was_taken(broadcast):
    asking = conversing("broadcast", rate="auto").ceiling_test
    assert (load_of(asking).rate, load_of(asking).arrival_seed, asking.fixed_rate) == (None, None, None)
    assert asking.decisive.name == "deliveries_per_s"
    # In 10 s 500 a second were taken, and 2,500 of the deliveries came: 50 of each message.
    assert asking.sustained_rate(broadcast({"in_time": 25_000}, rate=500.0, duration_s=10.0)) == 50


def test_one_of_which_much_failed_holds_nothing_that_is_known(broadcast):
    asking = conversing("echo", rate="auto").ceiling_test
    assert asking.sustained_rate(broadcast(rate=500.0)) == 500
    assert asking.sustained_rate(broadcast(rate=500.0, planned=1000, errors={"status": 2})) is None


def test_a_rejoin_is_reported_with_its_jitter_and_its_messages_and_is_quick_with_fewer_connections():
    test = conversing("rejoin", jitter="500ms", size=100)
    found = load_of(test)
    assert (found.rate, found.arrival_seed, found.duration_s, found.warmup_s) == (0, 7, 60, 0)
    said = found.conversation
    assert (said.receivers, said.rooms, said.jitter_s, said.publishes_per_s) == (1000, 1, 0.5, 20)
    assert test.description == (
        "1,000 WebSockets that come back after a restart, each within 0.5 s of an attempt, "
        "20 messages of 100 B a second"
    )
    quick = test.quick()
    assert (quick.work.connections, quick.pace.duration_s) == (100, 60)
    assert quick.planned_s < test.planned_s


def test_a_rejoin_is_judged_by_when_all_are_back(broadcast):
    def trial(**fields):
        connections = dataclasses.replace(holding(1001), rejoined=rejoining(**fields))
        return broadcast(
            connections=connections, histograms={"away": histogram_of({2_000_000: fields.get("back", 1000)})}
        )

    def figures(trial, *names):
        return [read(name, trial) for name in names]

    assert [metric.name for metric in conversing("rejoin").judged] == ["all_back_s", "away_p50_s"]
    usual = figures(trial(), "all_back_s", "away_p50_s", "away_p99_s", "first_back_s")
    assert usual == [4, 2, 2, 1]
    assert figures(trial(), "missed_per_connection", "unsent_messages") == [3, 20]
    lacking = trial(back=989)  # more than one in a hundred never came back
    assert figures(lacking, "all_back_s", "away_p99_s") == [math.inf, math.inf]
    assert read("away_p50_s", lacking) == pytest.approx(2, rel=0.01)
    assert read("away_p99_s", trial(lost=999, back=999)) is None  # too few to know
    assert read("all_back_s", trial(lost=0, back=0)) is None  # it was not restarted in time
