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


def test_pair_uses_only_own_baseline(run):
    made = run(a=1, b=1, b_tls=2, c=8, c_tls=8)
    page = page_of(made)
    said = page.findings[0].answer
    differ = "1 of 2 differ from their own baselines"
    assert said == f"{differ}: b-tls 2.0× the response time. Equivalent within ±3%: c-tls."
    assert page.top.chart.spec["title"]["text"] == differ
    [table] = section(page, "verdicts").tables
    assert table.caption.endswith("against its own baseline")
    assert {row[0].text: row[0].detail for row in table.rows} == {"b-tls": "against b", "c-tls": "against c"}
    details = {row[0].text: row[1].detail for row in page.answer.table.rows}
    assert details.pop("b-tls").startswith("×2")
    assert details == {"a": "×1", "b": "×1", "c": "×1", "c-tls": "same"}
    compared = compare_sides(made.path)
    assert {(row.label, row.comparison.baseline) for row in compared.rows} == {("b-tls", "b"), ("c-tls", "c")}
