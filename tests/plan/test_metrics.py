"""Test the names of metrics, the metrics that are judged, and objectives as users write them."""

import pytest

from loadtests.errors import UserError
from loadtests.plan.kinds import every_metric, metric
from loadtests.plan.objective import OF_DELIVERIES, OF_ECHOES, OF_REQUESTS, Limit, Objective, parse
from loadtests.plan.percentiles import knowable, requests_needed
from tests.fixtures.studies import a_test


def test_every_metric_has_a_name():
    for one in every_metric():
        assert metric(one.name) is one
    assert metric("web_cpu_ms_per_request").label == "CPU per request, web"
    assert metric("redis_uncharged_cpu_ms_per_request").label == "CPU per request, redis, not charged"
    with pytest.raises(ValueError, match=r"unknown metric 'speed'. Known metrics: p50_ms, "):
        metric("speed")


@pytest.mark.parametrize(
    ("rate", "percentiles", "times", "decisive"),
    [
        (300, [], ["p50_ms", "p99_ms"], "p99_ms"),
        (30, [], ["p50_ms", "p95_ms"], "p99_ms"),  # 300 requests are too few for p99
        (300, ["p50"], ["p50_ms"], "p50_ms"),
        (300, ["p99"], ["p99_ms"], "p99_ms"),
    ],
)
def test_only_listed_percentiles_are_judged(rate, percentiles, times, decisive):
    test = a_test("latency", rate=rate, duration="10s", percentiles=percentiles)
    assert [metric.name for metric in test.judged] == [*times, "cpu_ms_per_request"]
    assert test.decisive.name == decisive


def test_kind_without_percentiles_refuses_percentiles():
    with pytest.raises(UserError, match=r"throughput\.percentiles: tests of the kind throughput have no verdicts"):
        a_test("throughput", duration="1s", percentiles=["p50"])


@pytest.mark.parametrize(
    ("text", "terms", "objective"),
    [
        ("p99<50ms", OF_REQUESTS, Objective()),
        ("p99.9 < 1s,p50<=8.5ms, errors<1%", OF_REQUESTS, Objective((Limit(99.9, 1000), Limit(50, 8.5)), 0.01)),
        ("lag p99<100ms", OF_DELIVERIES, Objective((Limit(99, 100, "lag"),), max_missing=0.0001)),
        ("lag p95 < 1s, missing<1%", OF_DELIVERIES, Objective((Limit(95, 1000, "lag"),), max_missing=0.01)),
        ("missing<0.5%, p99<50ms", OF_ECHOES, Objective(max_missing=0.005)),
    ],
)
def test_objective_is_restored_from_text(text, terms, objective):
    assert parse(text, terms) == objective
    assert parse(str(objective), terms) == objective


@pytest.mark.parametrize(
    ("text", "terms", "says"),
    [
        *(
            (text, OF_REQUESTS, "objective: ")
            for text in ("", "p99", "p99<50", "p99>50ms", "errors<1%", "p100<5ms", "p99<0ms", "mean<5ms", "p75<50ms")
        ),
        ("p99<50ms, missing<1%", OF_REQUESTS, "'missing<1%' is not a valid limit. Write, for example, 'p99<50ms, e"),
        ("p99<50ms", OF_DELIVERIES, "'p99<50ms' is not a valid limit. Write, for example, 'lag p"),
        ("missing<1%", OF_DELIVERIES, "must limit a percentile. Write, for example, 'lag p99<100ms"),
    ],
)
def test_unsupported_limit_shows_an_example(text, terms, says):
    with pytest.raises(ValueError, match=says):
        parse(text, terms)


@pytest.mark.parametrize(("percentile", "needed"), [(50, 20), (99, 1000), (99.9, 10_000)])
def test_percentile_needs_ten_slower_requests(percentile, needed):
    assert requests_needed(percentile) == needed
    assert knowable(percentile, needed)
    assert not knowable(percentile, needed - 1)
