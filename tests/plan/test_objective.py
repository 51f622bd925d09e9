import pytest

from loadtests.plan.objective import Limit, Objective, parse


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


def test_the_default_is_p99_under_50_ms() -> None:
    assert Objective() == parse("p99<50ms")
