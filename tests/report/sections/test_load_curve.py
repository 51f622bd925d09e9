"""Test the chart of response time by load, for studies with the same requests at three or more rates."""

import json

import altair as alt
import pytest

from loadtests.report.formats import render
from tests.fixtures.changes import failing, slowed
from tests.fixtures.pages import drawn, page_of
from tests.fixtures.studies import a_test

RATES = (50.0, 150.0, 250.0)


def at(rate, **changes):
    return a_test("latency", f"latency-{rate:g}", rate=rate, duration=10, **changes)


def users(number):
    return a_test("journey", f"users-{number}", users=number, duration="30s")


@slowed
def queue(label, test, block):
    """Return the response times of a queue at a server that sustains 300 requests/s, or at a slower server."""
    return 1 / (1 - float(test.partition("-")[2]) / (300.0 if label == "gunicorn" else 260.0))


def overloaded(label, test, block, result):
    """Change the results so that uvicorn fails under the highest load."""
    return failing("uvicorn")(label, test, block, result) if test in ("latency-250", "users-64") else result


@pytest.fixture
def charts(build_run):
    def charts(*tests, **shape):
        run = build_run(**{"labels": ("gunicorn", "uvicorn"), "tests": tests, "change": queue, "blocks": 6, **shape})
        return [chart for chart in page_of(run).charts if chart.name.startswith("over-load")]

    return charts


def rows(chart):
    return drawn(chart, "load")


def test_each_setup_has_a_line(charts):
    [chart] = charts(*map(at, RATES), aa=True)
    assert {(row["label"], row["load"], row["panel"]) for row in rows(chart)} == {
        (label, rate, key) for label in ("gunicorn", "uvicorn") for rate in RATES for key in ("p50", "p99")
    }
    assert "p50, gunicorn: 2.48 at 50/s, 4.14 at 150/s and 12.4 at 250/s" in chart.alt
    assert all(row["low"] < row["value"] < row["high"] for row in rows(chart))
    alt.Chart.from_dict(chart.spec)
    json.dumps(chart.spec, allow_nan=False)
    assert render.svg(chart.spec).count(">uvicorn<") == 2  # the label next to the line in each panel


def test_few_rates_have_no_chart(charts):
    assert charts(at(50.0), at(150.0), at(250.0, path="/other"), change=None) == []


def test_users_count_as_load(charts):
    [chart] = charts(users(64), users(16), users(4), change=None)
    reported = "2.07 at 4 users, 2.07 at 16 users and 2.07 at 64 users"
    assert f"over users, the journey questionnaire at /questionnaire/. p50, gunicorn: {reported}" in chart.alt


@pytest.mark.parametrize(
    ("tests", "held", "says"),
    [
        ([at(rate) for rate in RATES], {50.0, 150.0}, "uvicorn cannot sustain 250 requests/s"),
        ([users(4), users(16), users(64)], {4, 16}, "; uvicorn at 64 users: 25.00% failed"),
    ],
)
def test_line_ends_at_last_sustained_load(charts, tests, held, says):
    [chart] = charts(*tests, change=overloaded)
    assert {row["load"] for row in rows(chart) if row["label"] == "uvicorn"} == held
    assert says in chart.alt
