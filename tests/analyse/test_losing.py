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


@pytest.mark.parametrize(("missing", "verdict"), [(0.0005, Verdict.LOSES), (0.0001, Verdict.EQUIVALENT)])
def test_one_in_ten_thousand_may_be_lost_and_no_more_however_equal_it_looks(results, missing, verdict):
    found = results(delivering(missing={"daphne": missing}))
    assert bool(found.standings["daphne", "broadcast"].trouble) is (verdict is Verdict.LOSES)
    assert verdicts(found)["daphne", "lag_p50_ms"] is verdict
    assert verdicts(found)["granian", "lag_p50_ms"] is Verdict.EQUIVALENT


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
        held = holding(1000, refused, lost) if label == "daphne" else holding(1000)
        return dataclasses.replace(delivering()(label, test, block, result), connections=held)

    found = results(change)
    assert found.standings["daphne", "broadcast"].trouble == "1.0% of its connections refused or lost"
    assert verdicts(found)["daphne", "lag_p50_ms"] is Verdict.INCONCLUSIVE


def test_a_comparison_of_runs_and_a_history_say_who_lost_some(build_run, tmp_path):
    shape = {"labels": LABELS, "blocks": 6, "tests": (conversing("broadcast"),)}
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


def test_idle_connections_cost_memory_from_rest(results):
    def holding_connections(label, test, block, result):
        times = dict.fromkeys(result.response_time_ms)
        nothing = {"planned": 0, "sent": 0, "completed": 0, "ok": 0, "rate": 0.0, "timeline": ()}
        return dataclasses.replace(result, **nothing, response_time_ms=times, connections=holding(1000, refused=200))

    found = results(holding_connections, kind="idle", labels=("uvicorn",), blocks=1)
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
