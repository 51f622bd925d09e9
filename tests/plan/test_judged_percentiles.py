"""A test says on which percentiles its verdicts are given."""

import pytest

from loadtests.analyse.results import Results
from loadtests.errors import UserError
from loadtests.report.formats import csv
from tests.fixtures.studies import a_test


def judged(**keys):
    return [metric.name for metric in a_test("latency", duration="10s", **keys).judged]


@pytest.mark.parametrize(
    ("rate", "percentiles", "times"),
    [
        (300, [], ["p50_ms", "p99_ms"]),
        (30, [], ["p50_ms", "p95_ms"]),  # 300 requests do not know p99
        (300, ["p50"], ["p50_ms"]),
        (300, ["p95", "p50"], ["p50_ms", "p95_ms"]),
        (300, ["p99"], ["p99_ms"]),
    ],
)
def test_only_the_percentiles_that_a_test_names_are_judged(rate, percentiles, times):
    assert judged(rate=rate, percentiles=percentiles) == [*times, "cpu_ms_per_request"]


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


def test_setups_are_ranked_by_what_is_judged():
    assert a_test("latency", rate=300, duration=10).decisive.name == "p99_ms"
    assert a_test("latency", rate=300, duration=10, percentiles=["p50"]).decisive.name == "p50_ms"
