"""Who is first, where tests are steps of one curve: a sentence for all of them."""

import pytest

from tests.fixtures.changes import failing, slowed
from tests.fixtures.pages import page_of
from tests.fixtures.runs import SPEED, known_test

RATES = (50.0, 150.0, 250.0, 290.0)


def slower_from(load):
    """From that rate on uvicorn takes twice as long as gunicorn; below, as long."""

    def factor(label, test, block):
        slower = 2.0 if float(test.partition("-")[2]) >= load else 1.0
        return slower * SPEED["gunicorn"] / SPEED["uvicorn"] if label == "uvicorn" else 1.0

    return slowed(factor)


@pytest.fixture
def answer(build_run):
    """A function: the answer of a run at these rates."""

    def answer(change, rates=RATES, labels=("gunicorn", "uvicorn"), blocks=6):
        tests = tuple(known_test(f"latency-{rate:g}").at_rate(rate) for rate in rates)
        return page_of(build_run(tests=tests, change=change, labels=labels, blocks=blocks)).answer

    return answer


def of_p50(found):
    return [said for said in found.winners if said.startswith("Typical response time")]


def test_a_curve_is_reported_in_one_sentence_for_each_thing_asked_and_its_ends_are_columns(answer):
    found = answer(slower_from(200.0))
    assert of_p50(found) == [
        "Typical response time (p50), over requests per second: all (equivalent within ±3%) at 50/s and 150/s; "
        "gunicorn first at 250/s and 290/s."
    ]
    assert {"p50 50, ms", "p50 290, ms"} <= set(found.table.columns)
    assert not any("150" in column or "250" in column for column in found.table.columns)


def test_one_setup_that_is_in_front_all_along_is_reported_first(answer):
    found = answer(slower_from(0.0))
    assert found.winners[0].endswith(": gunicorn first at 50/s, 150/s, 250/s and 290/s.")


def test_of_two_rates_each_has_its_sentence(answer):
    found = answer(slower_from(0.0), RATES[:2])
    assert len(of_p50(found)) == 2
    assert all("gunicorn is" in said for said in of_p50(found))


def test_where_nothing_is_certain_nobody_is_in_front(answer):
    [text] = of_p50(answer(slower_from(0.0), blocks=1))
    assert text.endswith("over requests per second: all (no verdict) at 50/s, 150/s, 250/s and 290/s.")


def test_those_in_front_are_named_where_another_is_not_ranked(answer):
    [text] = of_p50(answer(failing("daphne"), labels=("gunicorn", "uvicorn", "daphne"), blocks=2))
    assert ": gunicorn and uvicorn lead (no significant difference) at 50/s" in text
    assert "all" not in text
