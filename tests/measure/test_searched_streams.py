"""A search for the most streams, on servers of known capacity; none is started."""

import dataclasses

import pytest

from loadtests.plan.kinds.stream import CAPACITY
from loadtests.records import Streams
from loadtests.records.result import NOTHING
from tests.fixtures.bench import a_block, measure
from tests.fixtures.results import histogram_of

HOLDS = 37  # streams


def streams(load, delay_ms=5.0, **changes):
    """What becomes of the streams of a load of which all go well, but for the changes."""
    count = load.streams.count
    events = round(count * load.duration_s / load.streams.interval_s)
    found = Streams(
        begun=count, whole=count, broken=0, unanswered=0, cut=0, answered=count,
        events=events, in_time=events, missing=0, most=count,
        first_ms=dict(NOTHING), delay_ms={**NOTHING, "p99": delay_ms}, reading_lag_ms=dict(NOTHING),
    )  # fmt: skip
    times = {"event_delay": histogram_of({round(1000 * delay_ms): events}), "response_time": histogram_of({1000: 1000})}
    return {"streams": dataclasses.replace(found, **changes), "histograms": times}


def late_events(load):
    return streams(load, delay_ms=5.0 if load.streams.count <= HOLDS else 900.0)


def threads(load):
    """Whoever comes next waits, for a stream or for an answer."""
    waiting = max(0, load.streams.count - HOLDS)
    slow = {**dict.fromkeys(NOTHING, 900.0)} if waiting else {**dict.fromkeys(NOTHING, 2.0)}
    return {**streams(load, unanswered=waiting, whole=load.streams.count - waiting), "response_time_ms": slow}


def breaking(load):
    broken = max(0, load.streams.count - HOLDS)
    return streams(load, broken=broken, whole=load.streams.count - broken)


def missing_events(load):
    return streams(load, missing=0 if load.streams.count <= HOLDS else 10_000)


@pytest.fixture
def search(bench_of):
    def search(meanwhile, **changes):
        bench_of.engine.meanwhile = meanwhile
        table = {"setups": ["uvicorn"], "tests": {"stream-capacity": {"start_rate": 5, "probe": "1s", **changes}}}
        made, _, [planned] = a_block(bench_of, table)
        return measure(made, planned)

    return search


@pytest.mark.parametrize("server", [late_events, threads, breaking, missing_events])
def test_the_most_streams_within_the_objective_are_found(search, server):
    trial = search(server)
    assert (trial.status, trial.capacity.limited_by) == ("ok", "server")
    assert HOLDS / 1.15 <= trial.capacity.rate <= HOLDS
    assert trial.capacity.sentence == f"{trial.capacity.rate:g} streams within the objective"
    assert CAPACITY.read(trial) == trial.capacity.rate == trial.result.streams.most
    assert {probe.delay_ms["p99"] for probe in trial.capacity.probes} <= {5.0, 900.0}


def test_the_most_that_may_be_tried_is_a_lower_bound(search):
    trial = search(streams, max_rate=40)
    assert (trial.capacity.rate, trial.capacity.limited_by, CAPACITY.is_lower_bound(trial)) == (40, "max_rate", True)


def test_a_generator_that_reads_too_late_is_no_limit_of_the_server(search):
    lain = {**NOTHING, "p99": 60.0}
    trial = search(lambda load: streams(load, reading_lag_ms=lain if load.streams.count > HOLDS else dict(NOTHING)))
    assert trial.capacity.limited_by == "generator"
