"""Who loses deliveries or connections: that stands above every ratio, and nothing that never came makes anybody
quick."""

import dataclasses
from math import inf

import pytest

from loadtests.analyse.compare.sides import compare_sides
from loadtests.analyse.history import history_of
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from loadtests.plan.kinds.broadcast import LAG_P50, LAG_P99
from loadtests.report.points import why_unknown
from tests.fixtures.changes import failing
from tests.fixtures.conversations import conversing, delivering, holding

LABELS = ("uvicorn", "daphne", "granian")


@pytest.fixture
def results(build_run):
    def build(change, kind="broadcast", **shape):
        shape = {"labels": LABELS, "blocks": 6, **shape}
        return Results(build_run(tests=(conversing(kind),), change=change, **shape))

    return build


def verdicts(found):
    return {(label, metric): one.verdict for (label, _, metric), one in found.comparisons.items()}


def test_who_loses_some_has_that_as_the_verdict_whatever_its_lag(results):
    found = results(delivering(missing={"daphne": 0.03}, lag={"daphne": 0.5, "granian": 0.5}))
    assert found.standings["daphne", "broadcast"].trouble == "loses 3.0%"
    assert {verdicts(found)["daphne", metric.name] for metric in (LAG_P50, LAG_P99)} == {Verdict.LOSES}
    assert verdicts(found)["granian", "lag_p50_ms"] is Verdict.FASTER


def test_as_equal_as_it_looks_it_is_not_equivalent(results):
    found = results(delivering(missing={"daphne": 0.0005}))
    assert verdicts(found)["daphne", "lag_p50_ms"] is Verdict.LOSES
    assert verdicts(found)["granian", "lag_p50_ms"] is Verdict.EQUIVALENT


def test_one_in_ten_thousand_is_allowed(results):
    found = results(delivering(missing={"daphne": 0.0001}))
    assert not found.standings["daphne", "broadcast"].trouble
    assert verdicts(found)["daphne", "lag_p50_ms"] is Verdict.EQUIVALENT


def test_nobody_is_slower_than_a_baseline_that_loses(results):
    found = results(delivering(missing={"uvicorn": 0.2}, lag={"daphne": 2.0}))
    assert verdicts(found)["daphne", "lag_p50_ms"] is Verdict.INCONCLUSIVE


def test_a_percentile_of_the_lag_is_of_all_that_was_expected(results):
    found = results(delivering(missing={"daphne": 0.02, "granian": 0.6}))
    assert found.estimate("daphne", "broadcast", "lag_p99_ms").value == inf  # two in a hundred never came
    assert found.estimate("daphne", "broadcast", "lag_p50_ms").value == pytest.approx(4.0, rel=0.02)
    assert found.estimate("granian", "broadcast", "lag_p50_ms").value == inf
    assert found.estimate("daphne", "broadcast", "delivered_percent").value == pytest.approx(98.0)


def test_a_lag_that_is_the_generators_own_is_not_known(results):
    def late(label, test, block, result):
        result = delivering()(label, test, block, result)
        return dataclasses.replace(result, pacing_lag_ms=dict.fromkeys(result.pacing_lag_ms, 2.0))

    assert results(late).estimate("uvicorn", "broadcast", "lag_p50_ms") is None


def test_many_deliveries_of_few_messages_know_no_more_than_the_messages_do(results):
    def few(label, test, block, result):
        counts = dict.fromkeys(("planned", "sent", "completed", "ok"), 150)
        return dataclasses.replace(delivering()(label, test, block, result), **counts)

    found = results(few)
    assert found.estimate("uvicorn", "broadcast", "lag_p50_ms").value == pytest.approx(4.0, rel=0.02)
    assert found.estimate("uvicorn", "broadcast", "lag_p99_ms") is None
    assert why_unknown(found, "uvicorn", conversing("broadcast"), LAG_P99) == "too few messages to know"


def test_who_can_neither_hold_the_rate_nor_deliver_is_said_to_do_neither(results):
    def both(label, test, block, result):
        failed = failing("daphne")(label, test, block, result)
        return delivering(missing={"daphne": 0.41})(label, test, block, failed)

    found = results(both)
    assert verdicts(found)["daphne", "lag_p50_ms"] is Verdict.CANNOT_SUSTAIN
    trouble = found.standings["daphne", "broadcast"].trouble
    assert trouble.startswith("cannot sustain 20 messages/s, only about ")
    assert trouble.endswith(": 25.0% failed; loses 41%")


@pytest.mark.parametrize(("refused", "lost"), [(10, 0), (0, 10)])
def test_who_refuses_or_loses_connections_is_ranked_in_nothing(results, refused, lost):
    def change(label, test, block, result):
        bad = label == "daphne"
        held = holding(1000, refused * bad, lost * bad)
        return dataclasses.replace(delivering()(label, test, block, result), connections=held)

    found = results(change)
    assert found.standings["daphne", "broadcast"].trouble == "1.0% of its connections refused or lost"
    assert verdicts(found)["daphne", "lag_p50_ms"] is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("rule", "fails"), [("slower>50%", True), ("failures>1%", True), ("failures>5%", False), ("failures", True)]
)
def test_a_comparison_of_runs_fails_for_what_is_lost(build_run, rule, fails):
    tests = (conversing("broadcast"),)
    before = build_run(labels=LABELS, blocks=6, tests=tests, change=delivering())
    after = build_run(labels=LABELS, blocks=6, tests=tests, name="after", change=delivering(missing={"daphne": 0.03}))
    compared = compare_sides(before.path, after.path, rule=rule)
    assert bool(compared.failure) is fails
    assert not fails or "daphne in broadcast, 3.00% of the deliveries are missing" in compared.failure
    rows = {(row["setup"], row["metric"]): row for row in compared.to_json()["comparisons"]}
    lag = rows["daphne", "lag_p50_ms"]
    assert (lag["verdict"], lag["lost"]) == ("loses", {"before": 0.0, "after": 0.03})


def test_a_history_says_in_which_run_some_were_lost(build_run, tmp_path):
    tests = (conversing("broadcast"),)
    for number, missing in enumerate((0.0, 0.03)):
        record = {"created": f"2026-11-2{number}T07:30:00+00:00"}
        change = delivering(missing={"daphne": missing})
        build_run(labels=LABELS, blocks=2, tests=tests, name=f"run-{number}", change=change, record=record)
    assert history_of("first-look", tmp_path).troubled == ["run-1: daphne in broadcast: loses 3.0%"]


def test_idle_connections_cost_memory_from_rest(results):
    def holding_connections(label, test, block, result):
        times = dict.fromkeys(result.response_time_ms)
        nothing = {"planned": 0, "sent": 0, "completed": 0, "ok": 0, "rate": 0.0, "timeline": ()}
        return dataclasses.replace(result, **nothing, response_time_ms=times, connections=holding(1000, refused=200))

    found = results(holding_connections, kind="idle", labels=("uvicorn",), blocks=1)
    [trial] = found.trials
    [metric] = conversing("idle").judged
    assert metric.read(trial) is None  # nobody looked at the memory at rest
    [process] = trial.processes
    rested = dataclasses.replace(trial, processes=(dataclasses.replace(process, idle_rss_mb=30.0),))
    assert metric.read(rested) == pytest.approx((55 - 30) * 1024 / 800)
    # What it took for the first of them, once, is no part of what each takes.
    grown = dataclasses.replace(process, idle_rss_mb=30.0, step_rss_mb=(50.0, 55.0, 60.0, 65.0))
    opened = dataclasses.replace(trial.result.connections, steps=(200, 400, 600, 800))
    in_steps = dataclasses.replace(
        trial, processes=(grown, grown), result=dataclasses.replace(trial.result, connections=opened)
    )
    assert metric.read(in_steps) == pytest.approx(2 * (65 - 50) * 1024 / 600)
    refused = dataclasses.replace(trial.result.connections, steps=(200, 200, 200, 200))
    assert (
        metric.read(dataclasses.replace(in_steps, result=dataclasses.replace(trial.result, connections=refused)))
        is None
    )
    assert found.estimate("uvicorn", "idle", "cpu_us_per_connection_second").value == pytest.approx(
        process.cpu_s * 1e6 / (800 * 10)
    )
    assert found.standings["uvicorn", "idle"].fails
