"""Test searches for the capacity of simulated servers, with WebSockets, streams or users."""

import dataclasses
import math

import pytest

from loadtests.measure import contract_check
from loadtests.measure.capacity import find
from loadtests.plan import objective as objectives
from loadtests.plan.kinds.stream import CAPACITY
from loadtests.plan.objective import SearchPlan
from loadtests.records import Deliveries, Second, Streams
from loadtests.records.result import NOTHING
from loadtests.workload import Load, Users
from tests.fixtures.bench import a_block, measure
from tests.fixtures.conversations import SEARCHES, holding
from tests.fixtures.results import good_result, histogram_of

HOLDS = 5000.0  # the server's capacity in counted events per second
STREAMS = 37
SLOW, FAST = dict.fromkeys(NOTHING, 500.0), dict.fromkeys(NOTHING, 5.0)


@pytest.fixture
def search(bench_of, monkeypatch):
    """Return a function that runs a search with changed keys on a server and returns the trial and the test."""
    monkeypatch.setattr(contract_check.websocket_contract, "broken", lambda *given: [])

    def search(kind, server, **changes):
        bench_of.engine.meanwhile = server
        usual = SEARCHES.get(kind, {"start_rate": 5, "probe": "1s"})
        made, _, [planned] = a_block(bench_of, {"setups": ["uvicorn"], "tests": {kind: {**usual, **changes}}})
        made.setups["uvicorn"] = dataclasses.replace(made.setups["uvicorn"], dialect="plain")
        return measure(made, planned), planned.test

    return search


def echoing(load):
    """Answer in 5 ms up to the server's capacity, and in 500 ms at higher rates."""
    return {"response_time_ms": FAST if load.rate <= HOLDS else SLOW}


def delivering(load, loses=0.0):
    """Accept all messages. Deliver in 10 ms up to the server's capacity, and in 500 ms at higher rates."""
    lag_ms = 10.0 if load.rate * load.counts_each <= HOLDS else 500.0
    expected = round(int(load.rate * load.duration_s) * load.counts_each)
    missing = round(expected * loses)
    lags = dict.fromkeys(NOTHING, lag_ms)
    return {
        "deliveries": Deliveries(expected, expected - missing, missing, 0, 0, lags, in_time=expected),
        "connections": holding(21),
        "histograms": {"lag": histogram_of({round(1000 * lag_ms): expected - missing})},
    }


@pytest.mark.parametrize("kind", SEARCHES)
def test_capacity_is_in_counted_units(search, bench_of, kind):
    trial, test = search(kind, delivering if kind == "broadcast-capacity" else echoing)
    assert (trial.status, trial.capacity.limited_by) == ("ok", "server")
    assert HOLDS / 1.03 <= trial.capacity.rate <= HOLDS
    assert test.decisive.read(trial) == trial.capacity.rate
    assert f"{test.kind.cost_unit.plural}/s within the objective" in trial.capacity.sentence
    assert test.why_unknown(trial) == ""
    sent = [load.rate * load.counts_each for load in bench_of.engine.loads]
    assert sent == pytest.approx([probe.rate for probe in trial.capacity.probes])
    # All figures except the capacity come from the confirming probe.
    per_send = bench_of.engine.loads[0].counts_each
    assert trial.result.planned == int(trial.capacity.rate / per_send * trial.result.duration_s)


def losing(load):
    return delivering(load, loses=0.02)


def refusing(load):
    return {**(delivering if load.counts_each > 1 else echoing)(load), "connections": holding(21, refused=10)}


def to_nobody(load):
    return {"deliveries": Deliveries(0, 0, 0, 0, 0, dict(NOTHING)), "connections": holding(21)}


@pytest.mark.parametrize(
    ("kind", "server", "why"),
    [
        ("broadcast-capacity", losing, "of the deliveries missing, at most 0.01%"),
        ("echo-capacity", refusing, "47.62% of the connections refused or lost"),
        ("broadcast-capacity", to_nobody, ""),
    ],
)
def test_losing_setup_has_no_capacity(search, kind, server, why):
    trial, _ = search(kind, server)
    assert (trial.capacity.rate, trial.capacity.limited_by) == (None, "server")
    assert why in trial.capacity.probes[0].why


@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize(("late_ms", "limited_by"), [(49.0, "max_rate"), (51.0, "generator")])
def test_late_reading_is_generators_limit(search, late_ms, limited_by, reads):
    def late(load):
        lag, found = {**NOTHING, "p50": 0.1, "p99": late_ms}, delivering(load)
        if reads:
            return {**found, "deliveries": dataclasses.replace(found["deliveries"], reading_lag_ms=lag)}
        return {**found, "pacing_lag_ms": lag}

    assert search("broadcast-capacity", late, max_rate=4000)[0].capacity.limited_by == limited_by


def streams(load, delay_ms=5.0, **changes):
    """Return the results of a load whose streams all succeed, with the given changes."""
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
    return streams(load, delay_ms=5.0 if load.streams.count <= STREAMS else 900.0)


def threads(load):
    """Simulate a server with a thread for each of ``STREAMS`` streams. Any further stream or request waits."""
    waiting = max(0, load.streams.count - STREAMS)
    found = streams(load, unanswered=waiting, whole=load.streams.count - waiting)
    return {**found, "response_time_ms": dict.fromkeys(NOTHING, 900.0 if waiting else 2.0)}


def breaking(load):
    broken = max(0, load.streams.count - STREAMS)
    return streams(load, broken=broken, whole=load.streams.count - broken)


def missing_events(load):
    return streams(load, missing=0 if load.streams.count <= STREAMS else 10_000)


@pytest.mark.parametrize("server", [late_events, threads, breaking, missing_events])
def test_most_streams_within_objective_are_found(search, server):
    trial, _ = search("stream-capacity", server)
    assert (trial.status, trial.capacity.limited_by) == ("ok", "server")
    assert STREAMS / 1.15 <= trial.capacity.rate <= STREAMS
    assert trial.capacity.sentence == f"{trial.capacity.rate:g} streams within the objective"
    assert CAPACITY.read(trial) == trial.capacity.rate == trial.result.streams.most
    assert {probe.delay_ms["p99"] for probe in trial.capacity.probes} <= {5.0, 900.0}


def searched(arrivals, sustained, requests_each, unsent=0.0):
    """Search for the highest number of users, or with ``arrivals`` for the highest rate of new users.

    Above ``sustained`` users, or new users per second, the server's p99 exceeds the objective. Each user sends
    ``requests_each`` requests a second. With ``unsent``, all requests fail above ``sustained``, so the probe stops
    early and leaves this share of the requests unsent.
    """
    users = Users("questionnaire", "/", (1.0, 1.0), None if arrivals else 10, 1.0 if arrivals else None)
    load = Load.of_url("http://127.0.0.1:1/", users=users, arrival_seed=1, connections=10)
    asked = []

    def run(probe, watch):
        users = probe.users.users or probe.users.arrivals
        asked.append(users)
        p99 = 100.0 if users <= sustained else 2000.0
        sent = max(1, round(users * requests_each))
        errors = sent if unsent and users > sustained else 0
        made = []
        while len(made) < probe.duration_s and not (made and watch.should_stop()):
            made.append(Second(len(made), sent, sent, sent - errors, errors, 5.0, p99))
            watch.on_second(made[-1])
        total = sent * len(made)
        short = math.ceil(unsent * total) if len(made) < probe.duration_s else 0
        return good_result(
            probe,
            planned=total,
            **dict.fromkeys(("sent", "completed", "ok"), total - short),
            duration_s=float(len(made)),
            response_time_ms={**NOTHING, "p50": 5.0, "p99": p99},
            timeline=tuple(made),
        )

    unit = {"unit": "new users/s", "min_rate": 0.1} if arrivals else {"unit": "users", "whole": True}
    plan = SearchPlan(start_rate=10.0, short_s=5.0, long_s=10.0, precision=0.05, **unit)
    objective = objectives.parse("p99<500ms, failures<0.1%")
    return find(load, objective, plan, run), asked


@pytest.mark.parametrize("sustained", [1, 2, 3, 7, 37, 250])
def test_most_users_are_a_whole_number(sustained):
    found, asked = searched(False, sustained, 5.0)
    assert sustained / 1.05 - 0.5 <= found.rate <= sustained
    assert all(isinstance(users, int) for users in asked)
    assert (found.limited_by, found.sentence) == ("server", f"{found.rate:.0f} users within the objective")
    assert len(asked) < 30


@pytest.mark.parametrize(("unsent", "limited_by"), [(0.001, "server"), (0.01, "server"), (0.1, "generator")])
def test_stopped_probe_is_not_generators_limit(unsent, limited_by):
    assert searched(False, 37, 50.0, unsent)[0].limited_by == limited_by


def test_highest_rate_of_users_is_found():
    found, _ = searched(True, 6.2, 18.5)
    assert found.rate == pytest.approx(6.2, rel=0.06)
    assert found.sentence.endswith(" new users/s within the objective")


@pytest.mark.parametrize("requests_each", [0.2, 40.0])
def test_journey_probe_is_judged_by_share(requests_each):
    assert searched(False, 20, requests_each)[0].rate in (19, 20)
