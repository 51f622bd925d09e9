"""Objectives as people write them, and which percentiles a trial can know."""

import pytest

from loadtests.plan.objective import OF_DELIVERIES, OF_ECHOES, OF_REQUESTS, Limit, Objective, parse
from loadtests.plan.percentiles import knowable, requests_needed


@pytest.mark.parametrize(
    ("text", "terms", "objective"),
    [
        ("p99<50ms", OF_REQUESTS, Objective()),
        ("p99.9 < 1s", OF_REQUESTS, Objective((Limit(99.9, 1000),))),
        ("p95<20ms, errors<0.5%", OF_REQUESTS, Objective((Limit(95, 20),), max_errors=0.005)),
        ("p50<5ms,p99<=80.5ms", OF_REQUESTS, Objective((Limit(50, 5), Limit(99, 80.5)))),
        ("lag p99<100ms", OF_DELIVERIES, Objective((Limit(99, 100, "lag"),), max_missing=0.0001)),
        ("lag p95 < 1s, missing<1%", OF_DELIVERIES, Objective((Limit(95, 1000, "lag"),), max_missing=0.01)),
        ("p99<50ms", OF_ECHOES, Objective()),
        ("missing<0.5%, p99<50ms", OF_ECHOES, Objective(max_missing=0.005)),
    ],
)
def test_an_objective_is_read_and_so_is_its_text(text, terms, objective):
    assert parse(text, terms) == objective
    assert parse(str(objective), terms) == objective


@pytest.mark.parametrize(
    ("text", "terms", "says"),
    [
        *(
            (text, OF_REQUESTS, "objective: ")
            for text in ("", "p99", "p99<50", "p99>50ms", "errors<1%", "p100<5ms", "p99<0ms", "mean<5ms", "p75<50ms")
        ),
        ("p99<50ms, missing<1%", OF_REQUESTS, "'missing<1%' is not a limit; write for example 'p99<50ms, errors<0.1%'"),
        ("p99<50ms", OF_DELIVERIES, "'p99<50ms': here the lag of deliveries is limited; write for example 'lag p"),
        ("missing<1%", OF_DELIVERIES, "limits no lag; write for example 'lag p99<100ms'"),
        ("lag p99<50ms", OF_ECHOES, "'lag p99<50ms': here response times are limited; write for example 'p99<"),
    ],
)
def test_what_cannot_be_limited_is_named_with_an_example(text, terms, says):
    with pytest.raises(ValueError, match=says):
        parse(text, terms)


@pytest.mark.parametrize(("percentile", "needed"), [(50, 20), (90, 100), (99, 1000), (99.9, 10_000), (99.99, 100_000)])
def test_ten_requests_are_needed_in_the_tail(percentile, needed):
    assert requests_needed(percentile) == needed
    assert knowable(percentile, needed)
    assert not knowable(percentile, needed - 1)
