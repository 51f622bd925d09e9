"""A search for a capacity over WebSockets, on servers of known capacity; none is started."""

import dataclasses

import pytest

from loadtests.measure import contract_check
from loadtests.plan.kinds import metric
from loadtests.records import Deliveries
from loadtests.records.result import NOTHING
from tests.fixtures.bench import a_block, measure
from tests.fixtures.conversations import SEARCHES, holding
from tests.fixtures.results import histogram_of

HOLDS = 5000.0  # of what is counted, per second


def times_of(ms):
    return {**dict.fromkeys(NOTHING, ms)}


def echoing(load):
    """Answers in 5 ms up to what it holds, and in 500 beyond."""
    return {"response_time_ms": times_of(5.0 if load.rate <= HOLDS else 500.0)}


def delivering(load, loses=0.0, lag_ms=10.0):
    """Takes all that is published; delivers it in 10 ms up to what it holds, and in 500 beyond."""
    lag_ms = lag_ms if load.rate * load.counts_each <= HOLDS else 500.0
    expected = round(int(load.rate * load.duration_s) * load.counts_each)
    missing = round(expected * loses)
    found = Deliveries(expected, expected - missing, missing, 0, 0, times_of(lag_ms), in_time=expected)
    return {
        "deliveries": found,
        "connections": holding(21),
        "histograms": {"lag": histogram_of({round(1000 * lag_ms): expected - missing})},
    }


@pytest.fixture
def search(bench_of, monkeypatch):
    """A function: the trial of a search of that kind; what is otherwise than usual, by key."""
    monkeypatch.setattr(contract_check.websocket, "verified", lambda *asked: [])

    def search(kind, **changes):
        table = {"setups": ["uvicorn"], "tests": {kind: {**SEARCHES[kind], **changes}}}
        made, _, [planned] = a_block(bench_of, table)
        made.setups["uvicorn"] = dataclasses.replace(made.setups["uvicorn"], dialect="plain")
        return measure(made, planned), planned.test

    return search


@pytest.mark.parametrize("kind", SEARCHES)
def test_the_capacity_is_found_in_what_is_counted(search, bench_of, kind):
    bench_of.engine.meanwhile = delivering if kind == "broadcast-capacity" else echoing
    trial, test = search(kind)
    assert (trial.status, trial.capacity.limited_by) == ("ok", "server")
    assert HOLDS / 1.03 <= trial.capacity.rate <= HOLDS
    assert test.decisive.read(trial) == trial.capacity.rate
    assert f"{test.kind.cost_unit.plural}/s within the objective" in trial.capacity.sentence
    assert test.why_unknown(trial) == ""
    sent = [load.rate * load.counts_each for load in bench_of.engine.loads]
    assert sent == pytest.approx([probe.rate for probe in trial.capacity.probes])
    # The figures next to it are those of the probe that confirmed it.
    per_send = bench_of.engine.loads[0].counts_each
    assert trial.result.planned == int(trial.capacity.rate / per_send * trial.result.duration_s)


def test_a_probe_keeps_the_lag_of_its_deliveries(search, bench_of):
    bench_of.engine.meanwhile = delivering
    trial, _ = search("broadcast-capacity")
    assert {probe.lag_ms["p99"] for probe in trial.capacity.probes} == {10.0, 500.0}
    assert {probe.response_time_ms["p99"] for probe in trial.capacity.probes} == {2.0}
    failed = [probe.why for probe in trial.capacity.probes if probe.outcome == "fail"]
    assert set(failed) == {"lag p99 500.0 ms, at most 100 ms"}
    assert metric("delivered_percent").read(trial) == 100


def test_a_layer_that_loses_has_no_capacity_whatever_its_lag(search, bench_of):
    bench_of.engine.meanwhile = lambda load: delivering(load, loses=0.02)
    trial, _ = search("broadcast-capacity")
    assert (trial.capacity.rate, trial.capacity.limited_by) == (None, "server")
    assert "of the deliveries missing, at most 0.01%" in trial.capacity.probes[0].why


def test_one_that_is_allowed_to_lose_has(search, bench_of):
    bench_of.engine.meanwhile = lambda load: delivering(load, loses=0.0005)
    trial, _ = search("broadcast-capacity", objective="lag p99<100ms, missing<0.1%")
    assert trial.capacity.rate is not None


@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize(("late_ms", "limited_by"), [(49.0, "max_rate"), (51.0, "generator")])
def test_a_probe_is_the_generators_where_it_is_late_by_half_of_what_a_lag_may_be(
    search, bench_of, late_ms, limited_by, reads
):
    def late(load):
        lag, found = {**NOTHING, "p50": 0.1, "p99": late_ms}, delivering(load)
        if reads:
            return {**found, "deliveries": dataclasses.replace(found["deliveries"], reading_lag_ms=lag)}
        return {**found, "pacing_lag_ms": lag}

    bench_of.engine.meanwhile = late
    trial, _ = search("broadcast-capacity", max_rate=4000)
    assert trial.capacity.limited_by == limited_by


@pytest.mark.parametrize("kind", ["echo-capacity", "broadcast-capacity"])
def test_connections_that_are_refused_fail_a_probe(search, bench_of, kind):
    well = delivering if kind == "broadcast-capacity" else echoing
    bench_of.engine.meanwhile = lambda load: {**well(load), "connections": holding(21, refused=10)}
    trial, _ = search(kind)
    assert trial.capacity.rate is None
    assert "47.62% of its connections refused or lost" in trial.capacity.probes[0].why


def test_where_nobody_was_there_to_receive_nothing_was_held(search, bench_of):
    def nobody(load):
        return {"deliveries": Deliveries(0, 0, 0, 0, 0, dict(NOTHING)), "connections": holding(21, refused=0)}

    bench_of.engine.meanwhile = nobody
    assert search("broadcast-capacity")[0].capacity.rate is None
