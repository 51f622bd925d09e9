"""Test an injector's counts and times with users whose requests have known times."""

import pytest

from loadtests.engines.merge import merge
from loadtests.journeys.injector.recorder import Recorder
from loadtests.journeys.steps import BrokenOff, Step
from loadtests.records.histogram import decoded
from loadtests.records.result import NOTHING
from loadtests.workload import Users

BEGIN, END = 100.0, 110.0
HERE = {"machine": "", "generator": {"cpu_s": 1, "wall_s": 2, "peak_rss_mb": 3}}
THERE = HERE | {"machine": "ssh://second", "conditions": {"other_load": 0.2, "swapped_pages": 1, "mhz": None}}


@pytest.fixture
def recorder():
    return Recorder(BEGIN, END)


def ask(recorder, ready, takes=0.1, late=0.0, route="page", failure=None):
    """Record a request and its answer."""
    step = Step(route, "GET", ready, ready + late)
    recorder.sent(step)
    recorder.answered(step, ready + late + takes, failure)


def merged(*parts):
    return merge("locust", parts, (), users=Users("questionnaire", "/", (1, 2), 4))


def result(recorder, now=END):
    return merged(recorder.measured(now) | HERE)


def test_result_excludes_requests_outside_load(recorder):
    for ready in (BEGIN - 0.01, BEGIN, END - 0.01, END):
        ask(recorder, ready)
    found = result(recorder, END + 1)
    assert (found.planned, found.sent, found.completed, found.ok) == (2, 2, 2, 2)
    # The first two requests were answered during the load, so the load's CPU time includes their CPU time.
    assert (found.rate, found.billed, found.duration_s) == (0.2, 2, 10.0)


def test_response_time_includes_send_lag(recorder):
    ask(recorder, BEGIN + 1, takes=0.2, late=0.3)
    found = result(recorder)
    for figures, ms in ((found.response_time_ms, 500), (found.service_time_ms, 200), (found.send_lag_ms, 300)):
        assert figures["p50"] == pytest.approx(ms, rel=0.001)
    assert (found.response_time_ms["max"], found.response_time_ms["mean"]) == (500, 500)


def test_running_requests_are_reported_unfinished(recorder):
    recorder.sent(Step("page", "GET", BEGIN + 1, BEGIN + 1))
    recorder.sent(Step("page", "GET", END + 1, END + 1))
    found = result(recorder, END + 5)
    assert (found.planned, found.ok, found.unfinished) == (1, 0, 1)
    assert decoded(found.histograms["failed"]).percentile(50) == pytest.approx(14e6, rel=0.001)


def test_journeys_ending_after_load_are_ignored(recorder):
    for due, at, failure in (
        (BEGIN - 5, BEGIN - 1, None),
        (BEGIN - 5, BEGIN + 1, None),
        (BEGIN + 1, BEGIN + 3, None),
        (BEGIN + 1, BEGIN + 4, BrokenOff("status", "503")),
        (BEGIN + 9, END + 1, None),
    ):
        recorder.begins(due)
        recorder.ended(due, at, failure)
    recorder.begins(END - 1)
    ask(recorder, BEGIN)
    found = result(recorder, END + 2).journeys
    assert (found.completed, found.broken_off) == (2, 1)
    assert (found.under_way_first, found.under_way_last) == (1, 2)
    assert (found.duration_ms["max"], found.duration_ms["mean"]) == (6000, 4000)


def test_each_second_is_reported_once(recorder):
    ask(recorder, BEGIN + 0.5)
    ask(recorder, BEGIN + 2.5)
    rows = recorder.seconds(BEGIN + 2.0)
    assert [(row["t"], row["sent"], row["ok"]) for row in rows] == [(0, 1, 1), (1, 0, 0)]
    assert recorder.seconds(BEGIN + 2.1) == []
    ask(recorder, END - 0.1, takes=2.0)
    rows = recorder.rest()
    assert [row["t"] for row in rows] == list(range(2, 12))
    assert (rows[0]["ok"], rows[7]["sent"], rows[9]["ok"]) == (1, 1, 1)
    assert recorder.rest() == []


@pytest.mark.parametrize(
    ("ready", "at", "planned", "duration_s", "rate"),
    [(BEGIN + 1, BEGIN + 2, 1, 2.0, 0.5), (BEGIN - 2, BEGIN - 1, 0, 0.0, 0.0)],
)
def test_stopped_load_ends_immediately(recorder, ready, at, planned, duration_s, rate):
    ask(recorder, ready)
    recorder.cut(at)
    found = result(recorder, at)
    assert (found.planned, found.duration_s, found.rate) == (planned, duration_s, rate)


def test_injector_counts_are_added():
    parts = []
    for answers, more in (((0.001, 0.002, 0.003), HERE), ((0.009,), THERE)):
        recorder = Recorder(BEGIN, END)
        for takes in answers:
            ask(recorder, BEGIN + 1, takes=takes)
        ask(recorder, BEGIN + 2, route="other", failure=BrokenOff("status", "503"))
        parts.append(recorder.measured(END) | more)
    found = merged(*parts)
    assert (found.planned, found.ok, found.errors, found.rate) == (6, 4, {"status": 2}, 0.4)
    assert found.examples == {"status": "GET other: 503"}
    times_ms = {"p50": 2.0, **dict.fromkeys(("p90", "p95", "p99", "p99.9", "max"), 9.0), "mean": 3.75}
    assert found.response_time_ms == pytest.approx(times_ms, rel=0.001)
    page, other = found.requests
    assert (page.name, page.planned, page.ok, page.errors, page.response_time_ms["max"]) == ("GET page", 4, 4, {}, 9.0)
    assert (other.planned, other.ok, other.unfinished, other.errors) == (2, 0, 0, {"status": 2})
    assert other.response_time_ms == NOTHING
    here, there = found.generator
    assert (here.machine, here.planned, here.other_load, here.swapped_pages) == ("", 4, None, None)
    assert (there.machine, there.planned, there.other_load, there.swapped_pages) == ("ssh://second", 2, 0.2, 1)


@pytest.mark.parametrize(("late_s", "disagreement"), [(0.0, 0.0), (0.5, 0.25)])
def test_late_injector_contradicts_littles_law(recorder, late_s, disagreement):
    for user in range(4):  # each user thinks for 1.5 s, and is answered after 0.5 s
        for turn in range(-1, 6):
            ready = BEGIN + user * 0.1 + turn * (2 + late_s)
            ask(recorder, ready, takes=0.5, late=late_s)
            recorder.thinks(ready + late_s + 0.5, ready + late_s + 2)
    found = result(recorder, END + 10).journeys
    assert found.think_ms == pytest.approx(1500, rel=0.1)
    assert found.wait_ms == pytest.approx(500, rel=0.1)
    assert found.disagreement == pytest.approx(disagreement, abs=0.05)
