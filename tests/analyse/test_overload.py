"""Who did what a test asked, and who did not."""

import dataclasses

import pytest

from loadtests.analyse.compare.sides import compare_sides
from loadtests.analyse.overload import SOUND, slices_pile_up
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from loadtests.plan.kinds import metric
from tests.fixtures.changes import failing
from tests.fixtures.conversations import conversing, delivering

LABELS = ("gunicorn", "daphne")


@pytest.fixture
def results(build_run):
    return lambda **shape: Results(build_run(**{"labels": LABELS, "blocks": 4, **shape}))


def verdicts(results, test="latency"):
    return {key: one.verdict for key, one in results.comparisons.items() if key[1] == test}


def piling(label, test, block, result):
    """A tenth more is sent each second than is answered; the rest is answered in the grace period."""
    if label != "daphne":
        return result
    seconds = [dataclasses.replace(second, ok=second.sent - 30) for second in result.timeline]
    return dataclasses.replace(result, timeline=tuple(seconds), rate=270.0)


def test_who_answers_all_in_time_is_sound(results):
    assert set(results().standings.values()) == {SOUND}


def test_a_rate_at_which_requests_fail_is_not_held(results):
    found = results(change=failing("daphne", share=0.2))
    overload = found.standings["daphne", "latency"].overload
    assert str(overload) == "cannot sustain 300 requests/s, only about 240"
    assert overload.why == "20.0% failed"
    assert set(verdicts(found).values()) == {Verdict.CANNOT_SUSTAIN}
    assert not found.standings["gunicorn", "latency"].overload


def test_a_backlog_that_grows_is_overload_though_all_is_answered_in_the_end(results):
    found = results(change=piling)
    overload = found.standings["daphne", "latency"].overload
    assert (overload.why, overload.sustains) == ("its backlog grew until the end", 270)
    assert found.standings["daphne", "throughput"].overload is None  # it is asked for no rate


@pytest.mark.parametrize(("blocks", "overloaded"), [((2,), False), ((2, 3), False), ((1, 2, 3), True)])
def test_more_than_half_of_the_blocks_decide(results, blocks, overloaded):
    found = results(change=failing("daphne", blocks=blocks))
    assert bool(found.standings["daphne", "latency"].overload) is overloaded
    assert (Verdict.CANNOT_SUSTAIN in verdicts(found).values()) is overloaded


@pytest.mark.parametrize(
    ("label", "share", "times", "verdict"),
    [
        pytest.param("daphne", 0.002, 0.1, Verdict.INCONCLUSIVE, id="who fails is neither faster nor equivalent"),
        pytest.param("daphne", 0.3, 1.0, Verdict.SLOWER, id="who fails may be slower"),
        pytest.param("gunicorn", 0.01, 1.0, Verdict.INCONCLUSIVE, id="nobody is slower than who fails"),
    ],
)
def test_failures_decide_who_may_be_faster_or_slower(results, label, share, times, verdict):
    found = results(change=failing(label, share=share, times=times))
    assert found.standings[label, "throughput"].fails
    of_daphne = found.comparisons["daphne", "throughput", "rps"]
    assert of_daphne.verdict is verdict
    assert of_daphne.blocks_needed is None  # no block would settle it


def test_one_failure_in_a_thousand_is_allowed(results):
    found = results(change=failing("daphne", share=0.001, times=1.0))
    assert not found.standings["daphne", "latency"].trouble
    assert verdicts(found)["daphne", "latency", "p50_ms"] is Verdict.SLOWER


def test_a_percentile_that_is_not_reached_in_one_block_leaves_the_others(results):
    found = results(blocks=10, change=failing("daphne", share=0.02, times=1.0, blocks=(3,)))
    one = found.comparisons["daphne", "latency", "p99_ms"]
    assert one.blocks == 10
    assert 1.9 < one.low <= one.high < 2.1


def test_a_run_whose_answers_became_quicker_by_failing_is_not_faster(build_run):
    before = build_run(labels=LABELS, blocks=6).path
    after = build_run(labels=LABELS, blocks=6, name="after", change=failing("daphne", share=0.25, times=0.6)).path
    found = compare_sides(before, after, rule="slower>5%")
    said = {(row.label, row.test, row.metric): row.comparison.verdict for row in found.rows}
    of_latency = {said["daphne", "latency", metric] for metric in ("p50_ms", "p99_ms", "cpu_ms_per_request")}
    assert of_latency == {Verdict.CANNOT_SUSTAIN}
    assert said["daphne", "throughput", "rps"] is Verdict.INCONCLUSIVE
    assert "daphne in latency cannot sustain 300 requests/s, only about 225" in found.failure
    assert "daphne in throughput, 25.00% of the requests failed" in found.failure
    assert "gunicorn" not in found.failure
    for rule, fails in (("failures>1%", True), ("failures>30%", False), ("failures", True)):
        failure = compare_sides(before, after, rule=rule).failure
        assert ("daphne in latency, 25.00% of the requests failed" in failure) is bool(failure) is fails, rule


@pytest.mark.parametrize(
    ("backlog", "piles_up"),
    [
        ([100, 95, 110, 98, 102, 97], True),  # of 500 sent in each slice, 100 are left
        ([8, 7, 9, 8, 6, 8], True),
        ([2, -3, 4, -1, 0, 1], False),
        ([40, -38, 45, -30, 2, -5], False),  # bursts, no growth
        ([0, 0, 0, 0, 0, 90], False),  # a single stall
        ([5, 4, 5, 4, 5, 4], False),  # under 1%
    ],
)
def test_a_rate_that_is_too_much_shows_within_slices(backlog, piles_up):
    assert slices_pile_up(backlog, planned=3000) == piles_up


@pytest.mark.parametrize(("backlog", "piles_up"), [([1, 1, 0, 0, 1, 1], False), ([2, 3, 2, 2, 3, 2], True)])
def test_a_request_that_is_being_answered_as_a_slice_ends_is_no_backlog(backlog, piles_up):
    assert slices_pile_up(backlog, planned=360) == piles_up


def test_deliveries_that_fall_behind_are_overload_though_all_come_in_the_end(results):
    def behind(label, test, block, result):
        result = delivering()(label, test, block, result)
        in_time, backlog = (6000, (4000,)) if label == "daphne" else (9990, (20,))
        reported = dataclasses.replace(result.deliveries, in_time=in_time, backlog=backlog)
        return dataclasses.replace(result, rate=20.0, planned=200, sent=200, ok=200, completed=200, deliveries=reported)

    found = results(tests=(conversing("broadcast"),), change=behind)
    assert str(found.standings["daphne", "broadcast"].overload) == "cannot sustain 20 messages/s, only about 12"
    assert found.standings["gunicorn", "broadcast"] == dataclasses.replace(SOUND, units="messages")
    assert set(verdicts(found, "broadcast").values()) == {Verdict.CANNOT_SUSTAIN}
    per_s = {trial.label: metric("deliveries_per_s").read(trial) for trial in found.trials}
    assert per_s == {"gunicorn": 999.0, "daphne": 600.0}
