"""Capacities over WebSockets in the report: as those of requests, in what each counts."""

import json

import pytest

from loadtests.analyse.results import Results
from tests.fixtures.conversations import SEARCHES, conversing
from tests.fixtures.pages import page_of, section, summary

COUNTS = {"connect-capacity": "connections", "echo-capacity": "messages", "broadcast-capacity": "deliveries"}
TIME = {"connect-capacity": "Time to open", "echo-capacity": "Response time", "broadcast-capacity": "Lag"}


@pytest.fixture
def run(build_run):
    def run(*kinds):
        return build_run(labels=("uvicorn", "gunicorn"), tests=tuple(map(conversing, kinds)), blocks=3)

    return run


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_capacity_is_told_in_what_it_counts(run, kind):
    found = Results(run(kind))
    told = section(found, kind)
    table = told.tables[0]
    assert table.columns[1] == f"capacity, {COUNTS[kind]}/s"
    assert {row[0].text for row in table.rows} == {"uvicorn", "gunicorn"}
    assert found.estimate("uvicorn", kind, conversing(kind).decisive.name).value > 100
    [chart] = told.charts
    assert chart.caption.startswith(f"{TIME[kind]} against rate, up to the knee")
    assert chart.alt.startswith(f"Capacity in {COUNTS[kind]} per second, ")
    answer = page_of(found).findings[0].answer
    assert "sustains the most, " in answer
    assert f" {COUNTS[kind]}/s" in answer
    drawn = json.dumps(chart.spec, allow_nan=False)
    assert f"{COUNTS[kind]} per second" in drawn
    assert f"p99 {TIME[kind].lower()}, ms" in drawn


def test_a_summary_has_each_in_a_column_of_its_own(run):
    rows = summary(run(*SEARCHES))
    for kind, counts in COUNTS.items():
        filled = {row["test"] for row in rows if row[f"capacity_{counts}_per_s"]}
        assert filled == {kind}
