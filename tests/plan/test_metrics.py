"""Metrics by name, their words, and on which of them a test gives its verdicts."""

import pytest

from loadtests.analyse.results import Results
from loadtests.errors import UserError
from loadtests.plan.kinds import every_metric, metric
from loadtests.report.formats import csv
from tests.fixtures.studies import a_test


def test_every_metric_is_found_by_its_name():
    for one in every_metric():
        assert metric(one.name) is one
    assert metric("web_cpu_ms_per_request").label == "CPU per request, web"
    assert metric("redis_uncharged_cpu_ms_per_request").label == "CPU per request, redis, not charged"
    with pytest.raises(ValueError, match="unknown metric 'speed'; known are p50_ms, "):
        metric("speed")


def test_a_metric_is_called_what_the_engine_knows_with_its_unit_once():
    p99, rps, memory = metric("p99_ms"), metric("rps"), metric("memory_peak_mb")
    assert p99.with_unit(p99.in_words("service time")) == "p99 service time, ms"
    assert rps.with_unit(rps.in_words("service time")) == "requests per second"
    # Nobody asked a question about these.
    assert (memory.topic, memory.verb) == ("peak memory", "has the least")
    assert metric("requests_per_cpu_s").verb == "has the most"


@pytest.mark.parametrize(
    ("rate", "percentiles", "times", "decisive"),
    [
        (300, [], ["p50_ms", "p99_ms"], "p99_ms"),
        (30, [], ["p50_ms", "p95_ms"], "p99_ms"),  # 300 requests do not know p99
        (300, ["p50"], ["p50_ms"], "p50_ms"),
        (300, ["p95", "p50"], ["p50_ms", "p95_ms"], "p50_ms"),
        (300, ["p99"], ["p99_ms"], "p99_ms"),
    ],
)
def test_only_the_percentiles_that_a_test_names_are_judged(rate, percentiles, times, decisive):
    test = a_test("latency", rate=rate, duration="10s", percentiles=percentiles)
    assert [metric.name for metric in test.judged] == [*times, "cpu_ms_per_request"]
    assert test.decisive.name == decisive


def test_a_kind_that_judges_no_percentile_has_none_to_choose():
    with pytest.raises(UserError, match=r"throughput\.percentiles: p50 is none that throughput gives verdicts on"):
        a_test("throughput", duration="1s", percentiles=["p50"])


def test_what_is_not_judged_is_measured_all_the_same_and_widens_no_interval(build_run):
    alone = a_test("latency", rate=300, duration=10, percentiles=["p50"])
    both = a_test("latency", rate=300, duration=10)
    one, two = (Results(build_run(tests=(test,), name=f"run-{len(test.judged)}")) for test in (alone, both))
    key = ("uvicorn", "latency", "p50_ms")
    assert {metric for _, _, metric in one.comparisons} == {"p50_ms", "cpu_ms_per_request"}
    assert one.comparisons[key].high < two.comparisons[key].high
    assert csv.csv_text(one) == csv.csv_text(two)
