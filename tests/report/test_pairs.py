"""Test setups with separate baselines. The pairs aren't ranked against each other."""

import pytest

from loadtests.analyse.compare.sides import compare_sides
from tests.fixtures.pages import page_of, section
from tests.report.test_findings import CERTAIN, times


@pytest.fixture
def run(build_run):
    """Return a function that builds a run in which ``b-tls`` is compared with ``b``, ``c-tls`` with ``c``, and so on.

    The function's arguments are factors of the times, by label.
    """

    def run(**factors):
        labels = tuple(name.replace("_", "-") for name in factors)
        against = {label: label.removesuffix("-tls") for label in labels if label.endswith("-tls")}
        return build_run(labels=labels, against=against, change=times(**factors), **CERTAIN)

    return run


TWO = {"a": 1, "b": 1, "b_tls": 2, "c": 8, "c_tls": 8}


def test_pair_uses_only_own_baseline(run):
    made = run(**TWO)
    page = page_of(made)
    said = page.findings[0].answer
    assert said == "Each compared with its own baseline: b-tls 2.0× the response time; equivalent within ±3%: c-tls."
    assert page.certainty == "All intervals hold at the same time with 95% confidence, adjusted for 6 comparisons."
    assert (
        page.top.chart.spec["title"]["text"] == "1 of 2 differ from their own baselines: b-tls 2.0× the response time"
    )
    [table] = section(page, "verdicts").tables
    assert table.caption.endswith("against its own baseline")
    assert {row[0].text: row[0].detail for row in table.rows} == {"b-tls": "against b", "c-tls": "against c"}
    details = {row[0].text: row[1].detail for row in page.answer.table.rows}
    assert details.pop("b-tls").startswith("×2")
    assert details == {"a": "×1", "b": "×1", "c": "×1", "c-tls": "same"}
    compared = compare_sides(made.path)
    assert {(row.label, row.comparison.baseline) for row in compared.rows} == {("b-tls", "b"), ("c-tls", "c")}


def test_equal_pairs_are_reported(run):
    page = page_of(run(**{**TWO, "b_tls": 1}))
    assert page.findings[0].answer == "Each compared with its own baseline: equivalent within ±3%: b-tls and c-tls."
    assert page.top.chart.spec["title"]["text"] == "No significant difference from its own baseline after 10 blocks"


def test_brief_answer_names_extreme_pairs(run):
    first = page_of(run(a=1, b=1, c=1, d=1, a_tls=2, b_tls=3, c_tls=4, d_tls=1.5)).findings[0]
    ends = "d-tls 50% higher response time to c-tls 4.0× the response time"
    assert first.brief == f"All 4 differ from their own baselines: {ends}."
    assert "b-tls 3.0× the response time" in first.answer
