"""Test an injector's counts and times with users whose requests have known times."""

import heapq
import itertools
import random

import pytest

from loadtests.analyse import validity
from loadtests.engines.merge import merge
from loadtests.journeys.injector.recorder import Recorder
from loadtests.journeys.steps import BrokenOff, Step
from loadtests.records import Evidence
from loadtests.records.histogram import Histogram
from loadtests.records.result import NOTHING
from loadtests.workload import Users

BEGIN, END = 100.0, 110.0
ELSEWHERE = {"machine": "ssh://second", "conditions": {"other_load": 0.2, "swapped_pages": 1, "mhz": None}}


@pytest.fixture
def recorder():
    return Recorder(BEGIN, END)


def ask(recorder, ready, takes=0.1, late=0.0, method="GET", route="page", failure=None):
    """Record a request and its answer."""
    step = Step(route, method, ready, ready + late)
    recorder.sent(step)
    recorder.answered(step, ready + late + takes, failure)


def times(spread):
    return Histogram.decode(spread["hdr"])


def test_result_excludes_requests_outside_load(recorder):
    for ready in (BEGIN - 0.01, BEGIN, END - 0.01, END):
        ask(recorder, ready)
    found = recorder.measured(END + 1)
    assert (found["planned"], found["sent"], found["completed"], found["ok"]) == (2, 2, 2, 2)
    # The first two requests were answered during the load, so the load's CPU time includes their CPU time.
    assert found["rate"] == 0.2
    assert found["billed"] == 2
    assert found["duration_s"] == 10.0


def test_response_time_includes_send_lag(recorder):
    ask(recorder, BEGIN + 1, takes=0.2, late=0.3)
    spreads = recorder.measured(END)["spreads"]
    for name, us in (("response_time", 500_000), ("service_time", 200_000), ("send_lag", 300_000)):
        assert times(spreads[name]).percentile(50) == pytest.approx(us, rel=0.001)
    assert (spreads["response_time"]["max_us"], spreads["response_time"]["sum_us"]) == (500_000, 500_000)


def test_running_requests_are_reported_unfinished(recorder):
    recorder.sent(Step("page", "GET", BEGIN + 1, BEGIN + 1))
    recorder.sent(Step("page", "GET", END + 1, END + 1))
    found = recorder.measured(END + 5)
    assert (found["planned"], found["ok"], found["unfinished"]) == (1, 0, 1)
    assert times(found["spreads"]["failed"]).percentile(50) == pytest.approx(14e6, rel=0.001)


def test_routes_keep_order_of_appearance(recorder):
    for route in ("launch", "session", "name"):
        ask(recorder, BEGIN - 1, route=route)
    for route, method in (("name", "GET"), ("name", "POST"), ("name", "POST"), ("launch", "GET")):
        ask(recorder, BEGIN, route=route, method=method, takes=0.2 if method == "POST" else 0.1)
    routes = recorder.measured(END)["routes"]
    assert [(one["method"], one["route"], one["ok"]) for one in routes] == [
        ("GET", "launch", 1),
        ("GET", "name", 1),
        ("POST", "name", 2),
    ]
    assert times(routes[2]["response_time"]).percentile(50) == pytest.approx(200_000, rel=0.001)


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
    found = recorder.measured(END + 2)["journeys"]
    assert (found["completed"], found["broken_off"]) == (2, 1)
    assert (found["under_way_first"], found["under_way_last"]) == (1, 2)
    assert sorted(times(found["duration"]).counts.values()) == [1, 1]
    assert found["duration"]["sum_us"] == 8_000_000


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
    ids=["while it was held", "before"],
)
def test_stopped_load_ends_immediately(recorder, ready, at, planned, duration_s, rate):
    ask(recorder, ready)
    recorder.cut(at)
    found = recorder.measured(at)
    assert (found["planned"], found["duration_s"], found["rate"]) == (planned, duration_s, rate)


def test_injector_counts_are_added():
    parts = []
    for answers, more in (((0.001, 0.002, 0.003), {"machine": ""}), ((0.009,), ELSEWHERE)):
        recorder = Recorder(BEGIN, END)
        for takes in answers:
            ask(recorder, BEGIN + 1, takes=takes)
        ask(recorder, BEGIN + 2, route="other", failure=BrokenOff("status", "503"))
        parts.append(recorder.measured(END) | {"generator": {"cpu_s": 1, "wall_s": 2, "peak_rss_mb": 3}} | more)
    result = merge("locust", parts, (), users=Users("questionnaire", "/", (1, 2), 4))
    assert (result.planned, result.ok, result.errors, result.rate) == (6, 4, {"status": 2}, 0.4)
    assert result.examples == {"status": "GET other: 503"}
    times_ms = {"p50": 2.0, **dict.fromkeys(("p90", "p95", "p99", "p99.9", "max"), 9.0), "mean": 3.75}
    assert result.response_time_ms == pytest.approx(times_ms, rel=0.001)
    page, other = result.requests
    assert (page.name, page.planned, page.ok, page.errors, page.response_time_ms["max"]) == ("GET page", 4, 4, {}, 9.0)
    assert (other.planned, other.ok, other.unfinished, other.errors) == (2, 0, 0, {"status": 2})
    assert other.response_time_ms == NOTHING
    here, there = result.generator
    assert (here.machine, here.other_load, here.swapped_pages) == ("", None, None)
    assert (there.machine, there.other_load, there.swapped_pages) == ("ssh://second", 0.2, 1)


# Test the formula of the closed loop with a simulated server and users. The recorder's figures are merged as in the
# engine, and compared with the server's own counts.
RAMP_S, HOLD_S = 20.0, 200.0
STEPS = 6  # requests in a journey; the user thinks before every second request
THINK_S = (1.0, 2.0)


class Simulation:
    """Simulate the users of a server that answers one request at a time, in ``answer_s`` seconds on average.

    The injector sends each request ``late_s`` seconds too late. ``answers`` contains the times at which the server
    answered.
    """

    def __init__(self, users, answer_s, late_s=0.0):
        self.recorder = Recorder(RAMP_S, RAMP_S + HOLD_S)
        self.answer_s, self.late_s = answer_s, late_s
        self.chance = random.Random(2016)
        self.free = 0.0
        self.answers = []
        turns = itertools.count()
        starts = [RAMP_S * number / users for number in range(users)]
        waiting = [(start, next(turns), self.walk(start)) for start in starts]
        while waiting:
            _, _, user = heapq.heappop(waiting)
            if (due := next(user, None)) is not None:
                heapq.heappush(waiting, (due, next(turns), user))

    def walk(self, ready):
        """Simulate a user who runs one journey after the other. Yield the times at which the user continues."""
        while True:
            begun = ready
            self.recorder.begins(begun)
            for number in range(STEPS):
                if number % 2:
                    thought, ready = ready, ready + self.chance.uniform(*THINK_S)
                    self.recorder.thinks(thought, ready)
                    yield ready
                if ready >= self.recorder.end:
                    return
                step = Step("page", "GET", ready, ready + self.late_s)
                yield step.sent
                self.recorder.sent(step)
                self.free = max(self.free, step.sent) + self.chance.expovariate(1 / self.answer_s)
                ready = self.free
                self.answers.append(ready)
                yield ready
                self.recorder.answered(step, ready, None)
            self.recorder.ended(begun, ready, None)

    def result(self, users):
        end = self.recorder.end
        took = {"cpu_s": 1.0, "wall_s": HOLD_S, "peak_rss_mb": 1.0}
        part = self.recorder.measured(end + 60) | {"generator": took, "machine": ""}
        who = Users("questionnaire", "/", THINK_S, users)
        return merge("locust", [part], (), users=who)

    @property
    def answered_per_s(self):
        held = sum(self.recorder.begin <= moment < self.recorder.end for moment in self.answers)
        return held / HOLD_S


def reasons(result):
    return {flag.reason for flag in validity.judge(Evidence(), result)}


# The load ranges from almost none to five times the load that the server can sustain.
@pytest.mark.parametrize(("users", "answer_s"), [(1, 0.01), (64, 0.001), (64, 0.01), (64, 0.02), (200, 0.02)])
def test_formula_matches_simulated_server(users, answer_s):
    simulation = Simulation(users, answer_s)
    result = simulation.result(users)
    found = result.journeys
    assert found.expected_per_s == pytest.approx(1000 * users / (found.think_ms + found.wait_ms))
    assert found.expected_per_s == pytest.approx(simulation.answered_per_s, rel=0.02)
    assert found.ended_per_s == pytest.approx(simulation.answered_per_s, rel=1e-9)
    assert "loop_disagrees" not in reasons(result)
    assert found.think_ms == pytest.approx(750, rel=0.05)  # users think 1.5 s on average before every second request
    if users == 1:
        assert found.wait_ms == pytest.approx(1000 * answer_s, rel=0.2)
    if answer_s == 0.02:  # the server answers at most 50 requests per second
        assert found.expected_per_s == pytest.approx(50, rel=0.03)


def test_late_injector_breaks_the_formula():
    result = Simulation(64, 0.001, late_s=0.05).result(64)
    assert result.journeys.disagreement == pytest.approx(0.05 / 0.75, rel=0.1)
    assert "loop_disagrees" in reasons(result)
