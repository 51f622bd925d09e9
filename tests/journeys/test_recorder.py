"""What an injector counts and times, of users whose every moment is known."""

import pytest

from loadtests.journeys.injector.recorder import Recorder, Times
from loadtests.journeys.steps import BrokenOff, Step
from loadtests.records.histogram import Histogram

BEGIN, END = 100.0, 110.0


@pytest.fixture
def recorder():
    return Recorder(BEGIN, END)


def ask(recorder, ready, takes=0.1, late=0.0, method="GET", route="page", failure=None):
    """A request that is answered."""
    step = Step(route, method, ready, ready + late)
    recorder.sent(step)
    recorder.answered(step, ready + late + takes, failure)


def times(spread):
    return Histogram.decode(spread["hdr"])


def test_requests_count_for_which_a_user_was_ready_while_the_load_was_held(recorder):
    for ready in (BEGIN - 0.01, BEGIN, END - 0.01, END):
        ask(recorder, ready)
    found = recorder.measured(END + 1)
    assert (found["planned"], found["sent"], found["completed"], found["ok"]) == (2, 2, 2, 2)
    # Answered within the time were the first two: for these the servers used what they used in it.
    assert found["rate"] == 0.2
    assert found["billed"] == 2
    assert found["duration_s"] == 10.0


def test_response_time_is_from_the_moment_in_which_the_user_was_ready(recorder):
    ask(recorder, BEGIN + 1, takes=0.2, late=0.3)
    spreads = recorder.measured(END)["spreads"]
    assert times(spreads["response_time"]).percentile(50) == pytest.approx(500_000, rel=0.001)
    assert times(spreads["service_time"]).percentile(50) == pytest.approx(200_000, rel=0.001)
    assert times(spreads["send_lag"]).percentile(50) == pytest.approx(300_000, rel=0.001)
    assert spreads["response_time"]["max_us"] == 500_000


def test_failures_have_their_kind_and_a_histogram_of_their_own(recorder):
    ask(recorder, BEGIN + 1)
    ask(recorder, BEGIN + 2, failure=BrokenOff("status", "503"))
    ask(recorder, BEGIN + 3, failure=BrokenOff("mixed-up", "Ada instead of Zoë"), method="POST")
    ask(recorder, BEGIN + 4, takes=3.0, failure=BrokenOff("timeout", "no answer"))
    found = recorder.measured(END)
    assert found["errors"] == {"status": 1, "mixed-up": 1, "timeout": 1}
    assert (found["planned"], found["completed"], found["ok"], found["unfinished"]) == (4, 3, 1, 0)
    assert times(found["spreads"]["failed"]).total == 3
    assert times(found["spreads"]["response_time"]).total == 1
    assert found["examples"]["mixed-up"] == "POST page: Ada instead of Zoë"


def test_what_is_under_way_at_the_end_is_unfinished(recorder):
    recorder.sent(Step("page", "GET", BEGIN + 1, BEGIN + 1))
    recorder.sent(Step("page", "GET", END + 1, END + 1))
    found = recorder.measured(END + 5)
    assert (found["planned"], found["ok"], found["unfinished"]) == (1, 0, 1)
    assert times(found["spreads"]["failed"]).percentile(50) == pytest.approx(14e6, rel=0.001)


def test_routes_and_methods_stand_apart(recorder):
    ask(recorder, BEGIN, route="name")
    ask(recorder, BEGIN, route="name", method="POST", takes=0.2)
    ask(recorder, BEGIN, route="name", method="POST", takes=0.2)
    routes = {(one["method"], one["route"]): one for one in recorder.measured(END)["routes"]}
    assert routes["GET", "name"]["ok"] == 1
    assert routes["POST", "name"]["ok"] == 2
    assert times(routes["POST", "name"]["response_time"]).percentile(50) == pytest.approx(200_000, rel=0.001)


def test_routes_stand_in_the_order_in_which_the_first_user_met_them(recorder):
    for route in ("launch", "session", "name"):
        ask(recorder, BEGIN - 1, route=route)
    for route in ("name", "launch"):
        ask(recorder, BEGIN + 1, route=route)
    assert [one["route"] for one in recorder.measured(END)["routes"]] == ["launch", "name"]


def test_journeys_count_that_ended_while_the_load_was_held(recorder):
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


def test_the_time_of_users_is_reported_as_far_as_the_load_was_held(recorder):
    recorder.thinks(BEGIN - 1, BEGIN + 1)
    recorder.thinks(BEGIN + 2, BEGIN + 4)
    recorder.thinks(END - 1, END + 10)
    ask(recorder, BEGIN - 0.5, takes=1.0)
    ask(recorder, BEGIN + 5, takes=1.0, late=0.5)
    recorder.sent(Step("page", "GET", END - 0.25, END - 0.25))
    found = recorder.measured(END + 1)["journeys"]
    assert found["thought_s"] == pytest.approx(4.0)
    assert found["waited_s"] == pytest.approx(1.75)
    assert found["ended_requests"] == 2


def test_a_second_is_handed_out_once_and_the_rest_at_the_end(recorder):
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


def test_a_load_that_is_cut_ends_then(recorder):
    ask(recorder, BEGIN + 1)
    recorder.cut(BEGIN + 2)
    found = recorder.measured(BEGIN + 2)
    assert (found["duration_s"], found["rate"]) == (2.0, 0.5)


def test_a_load_that_is_cut_before_it_was_held_measures_nothing(recorder):
    ask(recorder, BEGIN - 2)
    recorder.cut(BEGIN - 1)
    found = recorder.measured(BEGIN - 1)
    assert (found["planned"], found["duration_s"], found["rate"]) == (0, 0.0, 0.0)


def test_times_are_within_a_thousandth_of_what_they_were():
    whole = Times()
    values = [1e-6 * 1.01**power for power in range(2000)]
    for value in values:
        whole.record(value)
    histogram = times(whole.spread())
    assert histogram.total == 2000
    for percent in (10, 50, 99, 100):
        exact = values[max(0, -(-2000 * percent // 100) - 1)] * 1e6
        assert histogram.percentile(percent) == pytest.approx(exact, rel=0.001, abs=1)
