"""What is read off a broadcast: lags, the last receiver, and what the generator hides of them."""

import dataclasses
import math
from collections import Counter

import pytest

from loadtests.plan import kinds
from loadtests.records.histogram import Histogram
from loadtests.records.result import NOTHING
from tests.fixtures.conversations import conversing, delivering
from tests.fixtures.studies import load_of


@pytest.fixture
def broadcast(build_run):
    """A function: a trial of a broadcast whose result has those fields."""
    run = build_run(labels=("gunicorn",), tests=(conversing("broadcast"),), blocks=1, change=delivering())
    [trial] = run.trials()
    return lambda **fields: dataclasses.replace(trial, result=dataclasses.replace(trial.result, **fields))


def test_messages_that_were_never_sent_rank_as_infinitely_late(broadcast):
    read = {name: kinds.metric(name).read for name in ("lag_p50_ms", "lag_p99_ms", "delivered_percent")}
    sent = broadcast(planned=1000, sent=1000)
    assert read["lag_p99_ms"](sent) == sent.result.deliveries.lag_ms["p99"]
    assert read["delivered_percent"](sent) == 100
    held_up = broadcast(planned=1000, sent=900)
    assert read["lag_p50_ms"](held_up) == pytest.approx(4, rel=0.05)
    assert read["lag_p99_ms"](held_up) == math.inf
    assert read["delivered_percent"](held_up) == pytest.approx(90)


def test_the_last_receiver_is_infinitely_late_where_one_lacks_the_message(broadcast):
    read = {name: kinds.metric(name).read for name in ("last_p50_ms", "last_p99_ms")}
    found = broadcast(**dict.fromkeys(("planned", "sent", "ok"), 1000)).result.deliveries
    assert read["last_p99_ms"](broadcast(planned=1000, sent=1000, ok=1000)) == found.last_ms["p99"]
    lacking = dataclasses.replace(found, whole=980)
    assert read["last_p50_ms"](broadcast(planned=1000, sent=1000, deliveries=lacking)) == pytest.approx(8, rel=0.05)
    assert read["last_p99_ms"](broadcast(planned=1000, sent=1000, deliveries=lacking)) == math.inf
    unsent = broadcast(planned=2500, sent=1000)
    assert read["last_p50_ms"](unsent) == math.inf
    older = dataclasses.replace(found, messages=None, whole=None, last_ms=None)
    assert read["last_p50_ms"](broadcast(planned=1000, sent=1000, deliveries=older)) is None


def test_a_lag_that_may_be_the_generators_reading_is_not_known(broadcast):
    """A quarter of 4 ms, which the lag is, and of 8 ms, which the last receiver takes."""
    reading = broadcast().result.deliveries

    def known(lain_ms, latest_ms, share=0.5):
        lain = dataclasses.replace(reading, reading_lag_ms={**NOTHING, "p50": lain_ms, "p99": lain_ms})
        count = round(10_000 * share)
        histogram = Counter({round(lain_ms * 1000): 10_000 - count, round(latest_ms * 1000): count})
        kept = {**broadcast().result.histograms, "reading_lag": Histogram(3, 3_600_000_000, histogram).encode()}
        trial = broadcast(planned=1000, sent=1000, ok=1000, deliveries=lain, histograms=kept)
        return {name for name in ("lag_p50_ms", "lag_p99_ms", "last_p50_ms") if kinds.metric(name).read(trial)}

    everything = {"lag_p50_ms", "lag_p99_ms", "last_p50_ms"}
    assert known(0.9, 0.9) == everything
    assert known(1.1, 1.1) == {"last_p50_ms"}
    # Of ten receivers, the last is as late in the middle as one reading in fifteen is.
    assert known(0.1, 2.04, share=0.05) == everything
    assert known(0.1, 2.04, share=0.08) == everything - {"last_p50_ms"}


def test_bytes_are_shared_among_all_that_took_them(broadcast):
    each = kinds.metric("wire_bytes_per_delivery").read
    settled = {"ok": 1000, "billed": 1500}
    counted = broadcast(**settled).result.deliveries
    # 3,000,000 bytes for 10,000 deliveries and for the half more that were sent while it settled.
    assert each(broadcast(**settled, deliveries=dataclasses.replace(counted, in_time=9990))) == pytest.approx(200)
    assert each(broadcast(**settled)) == pytest.approx(300)  # an older run has no bytes of those


def test_what_holds_a_broadcast_is_what_was_delivered_and_not_what_was_taken(broadcast):
    asking = conversing("broadcast", rate="auto").ceiling_test
    assert (load_of(asking).rate, load_of(asking).arrival_seed, asking.fixed_rate) == (None, None, None)
    assert asking.decisive.name == "deliveries_per_s"
    # In 10 s 500 a second were taken, and 2,500 of the deliveries came: 50 of each message.
    trial = broadcast(rate=500.0, duration_s=10.0)
    counted = dataclasses.replace(trial.result.deliveries, in_time=25_000)
    trial = dataclasses.replace(trial, result=dataclasses.replace(trial.result, deliveries=counted))
    assert asking.sustained_rate(trial) == 50


def test_one_of_which_much_failed_holds_nothing_that_is_known(broadcast):
    asking = conversing("echo", rate="auto").ceiling_test
    assert asking.sustained_rate(broadcast(rate=500.0)) == 500
    assert asking.sustained_rate(broadcast(rate=500.0, planned=1000, errors={"status": 2})) is None
