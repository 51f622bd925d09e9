"""Who did what a test asked, and who did not; who loses deliveries or connections: that stands above every ratio, and
nothing that never came makes anybody quick."""

import dataclasses
from math import inf

import pytest

from loadtests.analyse.compare.sides import compare_sides
from loadtests.analyse.history import history_of
from loadtests.analyse.overload import SOUND, slices_pile_up
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from loadtests.plan.kinds import metric
from loadtests.plan.kinds.broadcast import LAG_P50, LAG_P99
from loadtests.report.points import why_unknown
from tests.fixtures.changes import failing
from tests.fixtures.conversations import conversing, delivering, holding

LABELS = ("gunicorn", "daphne")
THREE = ("uvicorn", "daphne", "granian")


@pytest.fixture
def results(build_run):
    return lambda **shape: Results(build_run(**{"labels": LABELS, "blocks": 4, **shape}))


@pytest.fixture
def losing(results):
    """A function: the results of three setups with deliveries, by a change of these."""

    def build(change, kind="broadcast", **shape):
        return results(**{"labels": THREE, "blocks": 6, "tests": (conversing(kind),), "change": change, **shape})

    return build


def verdicts(results, test="latency"):
    """By setup and metric."""
    return {(label, what): one.verdict for (label, of, what), one in results.comparisons.items() if of == test}


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
    assert verdicts(found)["daphne", "p50_ms"] is Verdict.SLOWER


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


def test_who_loses_some_has_that_as_the_verdict_whatever_its_lag(losing):
    found = losing(delivering(missing={"daphne": 0.03}, lag={"daphne": 0.5, "granian": 0.5}))
    assert found.standings["daphne", "broadcast"].trouble == "loses 3.0%"
    assert {verdicts(found, "broadcast")["daphne", metric.name] for metric in (LAG_P50, LAG_P99)} == {Verdict.LOSES}
    assert verdicts(found, "broadcast")["granian", "lag_p50_ms"] is Verdict.FASTER


@pytest.mark.parametrize(("missing", "verdict"), [(0.0005, Verdict.LOSES), (0.0001, Verdict.EQUIVALENT)])
def test_one_in_ten_thousand_may_be_lost_and_no_more_however_equal_it_looks(losing, missing, verdict):
    found = losing(delivering(missing={"daphne": missing}))
    assert bool(found.standings["daphne", "broadcast"].trouble) is (verdict is Verdict.LOSES)
    assert verdicts(found, "broadcast")["daphne", "lag_p50_ms"] is verdict
    assert verdicts(found, "broadcast")["granian", "lag_p50_ms"] is Verdict.EQUIVALENT


def test_nobody_is_slower_than_a_baseline_that_loses(losing):
    found = losing(delivering(missing={"uvicorn": 0.2}, lag={"daphne": 2.0}))
    assert verdicts(found, "broadcast")["daphne", "lag_p50_ms"] is Verdict.INCONCLUSIVE


def test_a_percentile_of_the_lag_is_of_all_that_was_expected(losing):
    found = losing(delivering(missing={"daphne": 0.02, "granian": 0.6}))
    assert found.estimate("daphne", "broadcast", "lag_p99_ms").value == inf  # two in a hundred never came
    assert found.estimate("daphne", "broadcast", "lag_p50_ms").value == pytest.approx(4.0, rel=0.02)
    assert found.estimate("granian", "broadcast", "lag_p50_ms").value == inf
    assert found.estimate("daphne", "broadcast", "delivered_percent").value == pytest.approx(98.0)


def test_a_lag_that_is_the_generators_own_is_not_known(losing):
    def late(label, test, block, result):
        result = delivering()(label, test, block, result)
        return dataclasses.replace(result, pacing_lag_ms=dict.fromkeys(result.pacing_lag_ms, 2.0))

    assert losing(late).estimate("uvicorn", "broadcast", "lag_p50_ms") is None


def test_many_deliveries_of_few_messages_know_no_more_than_the_messages_do(losing):
    def few(label, test, block, result):
        counts = dict.fromkeys(("planned", "sent", "completed", "ok"), 150)
        return dataclasses.replace(delivering()(label, test, block, result), **counts)

    found = losing(few)
    assert found.estimate("uvicorn", "broadcast", "lag_p50_ms").value == pytest.approx(4.0, rel=0.02)
    assert found.estimate("uvicorn", "broadcast", "lag_p99_ms") is None
    assert why_unknown(found, "uvicorn", conversing("broadcast"), LAG_P99) == "too few messages to know"


def test_who_can_neither_hold_the_rate_nor_deliver_is_said_to_do_neither(losing):
    def both(label, test, block, result):
        failed = failing("daphne")(label, test, block, result)
        return delivering(missing={"daphne": 0.41})(label, test, block, failed)

    found = losing(both)
    assert verdicts(found, "broadcast")["daphne", "lag_p50_ms"] is Verdict.CANNOT_SUSTAIN
    trouble = found.standings["daphne", "broadcast"].trouble
    assert trouble.startswith("cannot sustain 20 messages/s, only about ")
    assert trouble.endswith(": 25.0% failed; loses 41%")


@pytest.mark.parametrize(("refused", "lost"), [(10, 0), (0, 10)])
def test_who_refuses_or_loses_connections_is_ranked_in_nothing(losing, refused, lost):
    def change(label, test, block, result):
        held = holding(1000, refused, lost) if label == "daphne" else holding(1000)
        return dataclasses.replace(delivering()(label, test, block, result), connections=held)

    found = losing(change)
    assert found.standings["daphne", "broadcast"].trouble == "1.0% of its connections refused or lost"
    assert verdicts(found, "broadcast")["daphne", "lag_p50_ms"] is Verdict.INCONCLUSIVE


def test_a_comparison_of_runs_and_a_history_say_who_lost_some(build_run, tmp_path):
    shape = {"labels": THREE, "blocks": 6, "tests": (conversing("broadcast"),)}
    before = build_run(**shape, change=delivering()).path
    later = {"name": "after", "record": {"created": "2026-11-22T07:30:00+00:00"}}
    after = build_run(**shape, **later, change=delivering(missing={"daphne": 0.03})).path
    for rule, fails in (("slower>50%", True), ("failures>1%", True), ("failures>5%", False), ("failures", True)):
        compared = compare_sides(before, after, rule=rule)
        assert ("daphne in broadcast, 3.00% of the deliveries are missing" in compared.failure) is fails, rule
        assert bool(compared.failure) is fails
    rows = {(row["setup"], row["metric"]): row for row in compared.to_json()["comparisons"]}
    lag = rows["daphne", "lag_p50_ms"]
    assert (lag["verdict"], lag["lost"]) == ("loses", {"before": 0.0, "after": 0.03})
    assert history_of("first-look", tmp_path).troubled == ["after: daphne in broadcast: loses 3.0%"]


def test_idle_connections_cost_memory_from_rest(losing):
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

    assert memory(process) is None  # nobody looked at the memory at rest
    rested = dataclasses.replace(process, idle_rss_mb=30.0)
    assert memory(rested) == pytest.approx((55 - 30) * 1024 / 800)
    # What it took for the first of them, once, is no part of what each takes.
    grown = dataclasses.replace(rested, step_rss_mb=(50.0, 55.0, 60.0, 65.0))
    assert memory(grown, grown, steps=(200, 400, 600, 800)) == pytest.approx(2 * (65 - 50) * 1024 / 600)
    assert memory(grown, grown, steps=(200, 200, 200, 200)) is None
