from __future__ import annotations

import pytest

from loadtests.plan.objective import OF_DELIVERIES, OF_ECHOES, Limit, Objective, Terms, parse


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        ("p99<50ms", Objective((Limit(99, 50),))),
        ("p99.9 < 1s", Objective((Limit(99.9, 1000),))),
        ("p95<20ms, errors<0.5%", Objective((Limit(95, 20),), max_errors=0.005)),
        ("p50<5ms,p99<=80.5ms", Objective((Limit(50, 5), Limit(99, 80.5)))),
    ],
)
def test_objectives_are_read(text: str, objective: Objective) -> None:
    assert parse(text) == objective


@pytest.mark.parametrize(
    "text", ["", "p99", "p99<50", "p99>50ms", "errors<1%", "p100<5ms", "p99<0ms", "mean<5ms", "p75<50ms"]
)
def test_wrong_objectives_name_the_part(text: str) -> None:
    with pytest.raises(ValueError, match="objective: "):
        parse(text)


def test_objective_reads_back() -> None:
    text = "p95<20ms, p99.9<1500ms, errors<0.1%"
    assert str(parse(text)) == text
    assert parse(str(parse(text))) == parse(text)


@pytest.mark.parametrize(
    ("text", "terms", "objective"),
    [
        ("lag p99<100ms", OF_DELIVERIES, Objective((Limit(99, 100, "lag"),), max_missing=0.0001)),
        ("lag p95 < 1s, missing<1%", OF_DELIVERIES, Objective((Limit(95, 1000, "lag"),), max_missing=0.01)),
        ("p99<50ms", OF_ECHOES, Objective()),
        ("missing<0.5%, p99<50ms", OF_ECHOES, Objective(max_missing=0.005)),
    ],
)
def test_deliveries_have_a_lag_and_may_be_missing(text: str, terms: Terms, objective: Objective) -> None:
    assert parse(text, terms) == objective
    assert parse(str(objective), terms) == objective


@pytest.mark.parametrize(
    ("text", "terms", "says"),
    [
        (
            "p99<50ms",
            OF_DELIVERIES,
            "'p99<50ms': here the lag of deliveries is limited; write for example 'lag p",
        ),
        ("missing<1%", OF_DELIVERIES, "limits no lag; write for example 'lag p99<100ms'"),
        (
            "lag p99<50ms",
            OF_ECHOES,
            "'lag p99<50ms': here response times are limited; write for example 'p99<",
        ),
        ("p99<50ms, missing<1%", None, "'missing<1%' is not a limit; write for example 'p99<50ms, errors<0.1%'"),
    ],
)
def test_what_cannot_be_limited_here_is_said(text: str, terms: Terms | None, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse(text, terms) if terms else parse(text)


def test_the_default_is_p99_under_50_ms() -> None:
    assert Objective() == parse("p99<50ms")
