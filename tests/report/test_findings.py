"""Test the findings: only certain winners are named."""

import dataclasses
import re

import pytest

from tests.fixtures.changes import failing
from tests.fixtures.pages import page_of
from tests.fixtures.runs import known_test
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
    assert answers(found)[0].startswith("b is the fastest, 1.00 ms; the others take at least 2.00 times")
    assert "The rest: 2.00 to 4.00 ms." in answers(found)[0]
    assert "95% confidence, adjusted for 6 comparisons" in found.certainty


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        (
            {"a": 1, "noisy_b": 0.5, "noisy_cc": 0.52},
            "No clear winner after 10 blocks. Leading.*: noisy-b.* The rest: 2.00 ms.$",
        ),
        ({"a": 1, "b": 1.001}, "All equivalent within ±3%: 2.00 ms."),
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
    assert answers(found)
    assert all(answer.endswith("Without a figure: b.") for answer in answers(found))


def test_failing_setup_is_not_fastest(page):
    answer, _ = answers(page(labels=("a", "b", "c"), tests=("throughput",), blocks=10, change=failing("c", times=0.1)))
    assert answer.startswith("a answers the most of the ranked setups")
    assert answer.endswith("Not ranked: c (25.00% of its requests failed).")
    answer, _ = answers(page(labels=("a", "b"), tests=("throughput",), change=failing("a", "b"), name="all"))
    assert answer.startswith("No setup is ranked. Not ranked: a (25.00%")


def test_single_setup_has_only_figures(page):
    assert answers(page(labels=("gunicorn",), blocks=1))[0] == "gunicorn 9,901 requests/s."


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
    assert "Throughput: GET / in a closed loop with 10 connections, by loadtest" in captions
    assert "Throughput: GET / in a closed loop with 20 connections" in captions


def test_inner_steps_of_curve_have_no_sentence(build_run):
    tests = tuple(known_test(f"latency-{rate:g}").at_rate(rate) for rate in (50.0, 150.0, 250.0, 290.0))
    answer = page_of(build_run(tests=tests, labels=("a", "b"), blocks=2)).answer
    assert {"p50 50, ms", "p50 290, ms"} <= set(answer.table.columns)
    said = " ".join([*answer.winners, *answer.table.columns])
    assert "290" in said
    assert not any(rate in said for rate in ("150", "250"))
