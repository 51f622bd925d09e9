"""Test that failed requests, lost deliveries and lost connections take priority over ratios."""

import dataclasses
from math import inf

import pytest

from loadtests.analyse.compare.sides import compare_sides
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from loadtests.plan.kinds import metric
from loadtests.plan.kinds.broadcast import LAG_P99
from loadtests.report.points import why_unknown
from loadtests.trials.overload import SOUND, slices_pile_up
from tests.fixtures.changes import failing
from tests.fixtures.conversations import conversing, delivering, holding

LABELS = ("gunicorn", "daphne")
THREE = ("uvicorn", "daphne", "granian")


@pytest.fixture
def results(build_run):
    return lambda **shape: Results(build_run(**{"labels": LABELS, "blocks": 4, **shape}))


@pytest.fixture
def losing(results):
    """Return a function that builds the results of a run of three setups, with ``change`` applied to each result."""

    def build(change, kind="broadcast", **shape):
        return results(**{"labels": THREE, "blocks": 6, "tests": (conversing(kind),), "change": change, **shape})

    return build


def verdict(results, test, metric, label="daphne"):
    return results.comparisons[label, test, metric].verdict


def of_daphne(changed):
    """Return a function that changes only the results of daphne."""
    return lambda label, test, block, result: changed(result) if label == "daphne" else result


@of_daphne
def piling(result):
    """Leave a tenth of each second's requests unanswered until the grace period."""
    seconds = [dataclasses.replace(second, ok=second.sent - 30) for second in result.timeline]
    return dataclasses.replace(result, timeline=tuple(seconds), rate=270.0)


CANNOT, PILING = "cannot sustain 300 requests/s, only about", "its backlog grew until the end"


@pytest.mark.parametrize(
    ("change", "trouble", "of_times"),
    [
        (failing("daphne", share=0.2), f"{CANNOT} 240: 20.0% failed", Verdict.CANNOT_SUSTAIN),
        (piling, f"{CANNOT} 270: {PILING}", Verdict.CANNOT_SUSTAIN),
        # The verdict requires failures in more than half of the blocks.
        (failing("daphne", blocks=(2,)), "6.25% failed", Verdict.INCONCLUSIVE),
        (failing("daphne", blocks=(2, 3)), "12.50% failed", Verdict.INCONCLUSIVE),
        (failing("daphne", blocks=(1, 2, 3)), f"{CANNOT} 225: 25.0% failed", Verdict.CANNOT_SUSTAIN),
        (failing("daphne", share=0.001, times=1.0), "", Verdict.SLOWER),  # one failure in a thousand is allowed
        (None, "", Verdict.SLOWER),
    ],
)
def test_failures_or_backlog_decide_the_verdict(results, change, trouble, of_times):
    found = results(change=change)
    assert found.standings["daphne", "latency"].trouble == trouble
    assert verdict(found, "latency", "p99_ms") is of_times
    assert found.standings["daphne", "throughput"].overload is None  # a closed loop has no requested rate
    assert found.standings["gunicorn", "latency"] == SOUND


@pytest.mark.parametrize(
    ("label", "share", "times", "of_rate"),
    [
        pytest.param("daphne", 0.002, 0.1, Verdict.INCONCLUSIVE, id="a failing setup is neither faster nor equivalent"),
        pytest.param("daphne", 0.3, 1.0, Verdict.SLOWER, id="a failing setup may be slower"),
        pytest.param("gunicorn", 0.01, 1.0, Verdict.INCONCLUSIVE, id="no setup is slower than a failing baseline"),
    ],
)
def test_failures_restrict_verdicts(results, label, share, times, of_rate):
    found = results(change=failing(label, share=share, times=times))
    assert found.standings[label, "throughput"].fails
    assert verdict(found, "throughput", "rps") is of_rate


def test_one_infinite_percentile_is_tolerated(results):
    found = results(blocks=10, change=failing("daphne", share=0.02, times=1.0, blocks=(3,)))
    one = found.comparisons["daphne", "latency", "p99_ms"]
    assert one.blocks == 10
    assert 1.9 < one.low <= one.high < 2.1


def test_failing_setup_is_never_faster(build_run):
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
    ("backlog", "planned", "piles_up"),
    [
        ([100, 95, 110, 98, 102, 97], 3000, True),  # 100 of the 500 requests in each slice stay unanswered
        ([2, -3, 4, -1, 0, 1], 3000, False),
        ([40, -38, 45, -30, 2, -5], 3000, False),  # bursts without growth
        ([0, 0, 0, 0, 0, 90], 3000, False),  # a single stall
        ([5, 4, 5, 4, 5, 4], 3000, False),  # the backlog is less than 1% of the requests
        ([1, 1, 0, 0, 1, 1], 360, False),  # requests in progress at the end of a slice aren't a backlog
        ([2, 3, 2, 2, 3, 2], 360, True),
    ],
)
def test_backlog_grows_within_slices(backlog, planned, piles_up):
    assert slices_pile_up(backlog, planned) == piles_up


def disconnecting(refused, lost):
    """Return a change that adds deliveries to all setups, and refused or lost connections to daphne."""

    def change(label, test, block, result):
        connections = holding(1000, refused, lost) if label == "daphne" else holding(1000)
        return dataclasses.replace(delivering()(label, test, block, result), connections=connections)

    return change


def failing_and_losing(*trial):
    return delivering(missing={"daphne": 0.41})(*trial[:-1], failing("daphne")(*trial))


def behind(label, test, block, result):
    """Deliver all messages. 40% of daphne's deliveries arrive only after the load."""
    result = delivering()(label, test, block, result)
    in_time, backlog = (6000, (4000,)) if label == "daphne" else (9990, (20,))
    reported = dataclasses.replace(result.deliveries, in_time=in_time, backlog=backlog)
    return dataclasses.replace(result, rate=20.0, planned=200, sent=200, ok=200, completed=200, deliveries=reported)


CANNOT_DELIVER, BOTH = "cannot sustain 20 messages/s, only about", "25.0% failed; loses 41%"
UNCONNECTED = "1.0% of its connections refused or lost"


@pytest.mark.parametrize(
    ("change", "trouble", "of_lag", "of_another"),
    [
        # A setup that loses messages gets the verdict LOSES even if its lag isn't longer. One loss in ten thousand is
        # allowed.
        (delivering({"daphne": 0.03}, {"daphne": 0.5, "granian": 0.5}), "loses 3.0%", Verdict.LOSES, Verdict.FASTER),
        (delivering({"daphne": 0.0005}), "loses 0.050%", Verdict.LOSES, Verdict.EQUIVALENT),
        (delivering({"daphne": 0.0001}), "", Verdict.EQUIVALENT, Verdict.EQUIVALENT),
        # A setup is never slower than a baseline that loses messages.
        (delivering({"uvicorn": 0.2}, {"daphne": 2.0}), "", Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE),
        (disconnecting(refused=10, lost=0), UNCONNECTED, Verdict.INCONCLUSIVE, Verdict.EQUIVALENT),
        (behind, f"{CANNOT_DELIVER} 12: {PILING}", Verdict.CANNOT_SUSTAIN, Verdict.EQUIVALENT),
        (failing_and_losing, f"{CANNOT_DELIVER} 2,845: {BOTH}", Verdict.CANNOT_SUSTAIN, Verdict.EQUIVALENT),
    ],
)
def test_losses_take_priority_over_lag(losing, change, trouble, of_lag, of_another):
    found = losing(change)
    assert found.standings["daphne", "broadcast"].trouble == trouble
    assert verdict(found, "broadcast", "lag_p50_ms") is of_lag
    assert verdict(found, "broadcast", "lag_p50_ms", "granian") is of_another


def test_late_deliveries_do_not_count(losing):
    per_s = {trial.label: metric("deliveries_per_s").read(trial) for trial in losing(behind, blocks=1).trials}
    assert per_s == {"uvicorn": 999.0, "daphne": 600.0, "granian": 999.0}


def test_lag_percentile_covers_expected_deliveries(losing):
    found = losing(delivering(missing={"daphne": 0.02, "granian": 0.6}))
    assert found.estimate("daphne", "broadcast", "lag_p99_ms").value == inf  # 2% of the deliveries never arrived
    assert found.estimate("daphne", "broadcast", "lag_p50_ms").value == pytest.approx(4.0, rel=0.02)
    assert found.estimate("granian", "broadcast", "lag_p50_ms").value == inf
    assert found.estimate("daphne", "broadcast", "delivered_percent").value == pytest.approx(98.0)


def test_generator_delay_makes_lag_unknown(losing):
    def late(label, test, block, result):
        result = delivering()(label, test, block, result)
        return dataclasses.replace(result, pacing_lag_ms=dict.fromkeys(result.pacing_lag_ms, 2.0))

    assert losing(late).estimate("uvicorn", "broadcast", "lag_p50_ms") is None


def test_high_percentiles_need_enough_messages(losing):
    def few(label, test, block, result):
        counts = dict.fromkeys(("planned", "sent", "completed", "ok"), 150)
        return dataclasses.replace(delivering()(label, test, block, result), **counts)

    found = losing(few)
    assert found.estimate("uvicorn", "broadcast", "lag_p50_ms").value == pytest.approx(4.0, rel=0.02)
    assert found.estimate("uvicorn", "broadcast", "lag_p99_ms") is None
    assert why_unknown(found, "uvicorn", conversing("broadcast"), LAG_P99) == "too few messages to know"


def test_connection_memory_excludes_memory_at_rest(losing):
    def holding_connections(label, test, block, result):
        times = dict.fromkeys(result.response_time_ms)
        nothing = {"planned": 0, "sent": 0, "completed": 0, "ok": 0, "rate": 0.0, "timeline": ()}
        return dataclasses.replace(result, **nothing, response_time_ms=times, connections=holding(1000, refused=200))

    found = losing(holding_connections, kind="idle", labels=("uvicorn",), blocks=1)
    assert found.standings["uvicorn", "idle"].fails
    [trial] = found.trials
    [process] = trial.processes
    of_cpu = found.estimate("uvicorn", "idle", "cpu_us_per_connection_second")
    assert of_cpu.value == pytest.approx(process.cpu_s * 1e6 / (800 * 10))

    def memory(*processes, steps=()):
        opened = dataclasses.replace(trial.result.connections, steps=steps)
        result = dataclasses.replace(trial.result, connections=opened)
        [metric] = conversing("idle").judged
        return metric.read(dataclasses.replace(trial, processes=processes, result=result))

    assert memory(process) is None  # the memory at rest is unknown
    rested = dataclasses.replace(process, idle_rss_mb=30.0)
    assert memory(rested) == pytest.approx((55 - 30) * 1024 / 800)
    # The first step includes costs that occur only once, so it isn't part of the cost per connection.
    grown = dataclasses.replace(rested, step_rss_mb=(50.0, 55.0, 60.0, 65.0))
    assert memory(grown, grown, steps=(200, 400, 600, 800)) == pytest.approx(2 * (65 - 50) * 1024 / 600)
    assert memory(grown, grown, steps=(200, 200, 200, 200)) is None
