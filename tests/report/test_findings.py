"""Test the findings: only certain winners are named, and the rates of a curve share a sentence."""

import dataclasses
import re

import pytest

from tests.fixtures.changes import failing, slowed
from tests.fixtures.pages import page_of
from tests.fixtures.runs import SPEED, known_test
from tests.fixtures.studies import a_test

CERTAIN = {"tests": ("latency",), "blocks": 10}


@pytest.fixture
def page(build_run):
    return lambda **shape: page_of(build_run(**shape))


def answers(page):
    return [finding.answer for finding in page.findings]


def times(**factors):
    """Return a change that makes a setup's p50 and p99 a multiple of the baseline's, with a spread over blocks."""

    def change(label, test, block, result):
        spread = 1 + 0.05 * ((block * (3 + len(label)) % 7) - 3) if "noisy" in label else 1 + 0.001 * (block % 3)
        time = 2.0 * factors[label.replace("-", "_")] * spread
        return dataclasses.replace(result, response_time_ms=dict.fromkeys(result.response_time_ms, time))

    return change


def test_certain_winner_has_a_margin(page):
    found = page(labels=("a", "b", "c"), **CERTAIN, change=times(a=1, b=0.5, c=2))
    assert answers(found)[0].startswith("b is the fastest, 1.00 ms; all others take at least 2.0 times that")
    assert "The rest: 2.00 to 4.00 ms." in answers(found)[0]
    assert "95% confidence, adjusted for 6 comparisons" in found.certainty


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        (
            {"a": 1, "noisy_b": 0.5, "noisy_cc": 0.52},
            "No clear winner after 10 blocks. Leading.*: noisy-b.* a 2.00 ms.$",
        ),
        ({"a": 1, "b": 1.001}, "All equivalent within ±3%: a 2.00 and b 2.00 ms."),
        ({"a": 1, "b": 1.2, "a_again": 1.3}, "No significant difference after 10 blocks"),
    ],
    ids=["uncertain", "alike", "inside the noise"],
)
def test_uncertain_setup_never_wins(page, factors, says):
    labels = tuple(name.replace("_", "-") for name in factors if name != "a_again")
    [answer, *_] = answers(page(labels=labels, aa="a_again" in factors, **CERTAIN, change=times(**factors)))
    assert re.match(says, answer)


def test_setup_without_result_is_named(page):
    lost = tuple(("b", "latency", block) for block in (1, 2))
    found = page(labels=("a", "b", "c"), tests=("latency",), blocks=2, lost=lost)
    assert all(answer.endswith("Without a figure: b.") for answer in answers(found))


def test_overloaded_setup_is_not_ranked(page):
    found = page(labels=("a", "b", "c"), tests=("latency",), blocks=2, change=failing("b"))
    assert found.findings[0].question == "Which setups sustain the load, at 300 requests/s"
    first, *rest = answers(found)
    assert first == "b cannot sustain 300 requests/s, only about 225: 25.0% failed. All others do."
    assert all("Not ranked: b (25.00% of its requests failed)." in answer for answer in rest)
    assert not any("b 1" in answer for answer in rest)


def test_failing_setup_is_not_fastest(page):
    answer, _ = answers(page(labels=("a", "b", "c"), tests=("throughput",), blocks=10, change=failing("c", times=0.1)))
    assert answer.startswith("a answers the most of the ranked setups")
    assert answer.endswith("Not ranked: c (25.00% of its requests failed).")
    answer, _ = answers(page(labels=("a", "b"), tests=("throughput",), change=failing("a", "b"), name="all"))
    assert answer.startswith("No setup is ranked. Not ranked: a (25.00%")


def test_single_setup_has_only_figures(page):
    assert answers(page(labels=("gunicorn",), blocks=1))[:3] == [
        "gunicorn 9,901 requests/s.",
        "gunicorn 0.102 ms.",
        "gunicorn 2.02 ms.",
    ]


def test_equal_tests_name_their_engine(page):
    ours = known_test("throughput")
    theirs = dataclasses.replace(ours, name="throughput-as-then", engine="loadtest")
    other = a_test("throughput", "throughput-of-more", connections=20, duration=10)
    found = page(labels=("a", "b"), tests=(theirs, ours, other), blocks=1)
    assert [finding.question for finding in found.findings if finding.question.startswith("Throughput")] == [
        "Throughput with 10 connections, by loadtest",
        "Throughput with 10 connections, by openloop",
        "Throughput with 20 connections",
    ]
    captions = [table.caption for section in found.sections for table in section.tables]
    assert "Throughput: GET / as fast as 10 connections can, by loadtest" in captions
    assert "Throughput: GET / as fast as 20 connections can" in captions


RATES = (50.0, 150.0, 250.0, 290.0)


def slower_from(load):
    """Return a change that makes uvicorn's times twice gunicorn's from this rate on, and equal at lower rates."""

    def factor(label, test, block):
        slower = 2.0 if float(test.partition("-")[2]) >= load else 1.0
        return slower * SPEED["gunicorn"] / SPEED["uvicorn"] if label == "uvicorn" else 1.0

    return slowed(factor)


@pytest.fixture
def curve(build_run):
    """Return a function that returns the answer of a run with tests at these rates."""

    def curve(change, rates=RATES, labels=("gunicorn", "uvicorn"), blocks=6):
        tests = tuple(known_test(f"latency-{rate:g}").at_rate(rate) for rate in rates)
        return page_of(build_run(tests=tests, change=change, labels=labels, blocks=blocks)).answer

    return curve


def of_p50(found):
    return [said for said in found.winners if said.startswith("Typical response time")]


def test_curve_is_a_single_sentence(curve):
    found = curve(slower_from(200.0))
    assert of_p50(found) == [
        "Typical response time (p50), over requests per second: all (equivalent within ±3%) at 50/s and 150/s; "
        "gunicorn first at 250/s and 290/s."
    ]
    assert {"p50 50, ms", "p50 290, ms"} <= set(found.table.columns)
    assert not any("150" in column or "250" in column for column in found.table.columns)


def test_constant_leader_comes_first(curve):
    found = curve(slower_from(0.0))
    assert found.winners[0].endswith(": gunicorn first at 50/s, 150/s, 250/s and 290/s.")


def test_two_rates_have_separate_sentences(curve):
    found = curve(slower_from(0.0), RATES[:2])
    assert len(of_p50(found)) == 2
    assert all("gunicorn is" in said for said in of_p50(found))


def test_uncertain_results_have_no_leader(curve):
    [text] = of_p50(curve(slower_from(0.0), blocks=1))
    assert text.endswith("over requests per second: all (no verdict) at 50/s, 150/s, 250/s and 290/s.")


def test_leaders_and_unranked_setups_are_named(curve):
    [text] = of_p50(curve(failing("daphne"), labels=("gunicorn", "uvicorn", "daphne"), blocks=2))
    assert ": gunicorn and uvicorn lead (no significant difference) at 50/s" in text
    assert "all" not in text
