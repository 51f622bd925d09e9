"""Test capacities in the report: a value if the server was the limit, otherwise a lower bound."""

import json
import re
from statistics import geometric_mean

import pytest

from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from tests.fixtures.conversations import SEARCHES, conversing
from tests.fixtures.pages import column, drawn, page_of, section, summary


@pytest.fixture
def results(build_run):
    return lambda **shape: Results(build_run(tests=("capacity",), **shape))


def mean_of(found, label):
    return geometric_mean(trial.capacity.rate for trial in found.trials if trial.label == label)


def test_limit_of_generator_gives_lower_bound(results):
    found = results(labels=("gunicorn", "daphne", "daphne-ipc"), blocks=6, generator_rate=400)
    page = page_of(found)
    [table], [chart] = section(page, "capacity").tables, section(page, "capacity").charts
    assert column(table, "capacity, requests/s")["gunicorn"].text == f"at least {mean_of(found, 'gunicorn'):,.0f}"
    limited = column(table, "limited by")["gunicorn"]
    assert limited.text == "generator"
    assert "the load generator was the limit, not the server" in limited.detail
    assert re.match(r"gunicorn sustains the most, at least 39\d requests/s; the others", page.findings[0].answer)
    assert column(table, "limited by")["daphne-ipc"].text == "server"  # about 133 requests/s
    assert "gunicorn at least " in chart.alt
    of_daphne = found.comparisons["daphne", "capacity", "capacity_rps"]
    assert (of_daphne.verdict, of_daphne.low, of_daphne.at_most) == (Verdict.SLOWER, 0, True)
    [verdicts] = section(page, "verdicts").tables
    ratio = column(verdicts, "ratio")["daphne"]
    assert (ratio.text[:11], ratio.detail[:8]) == ("at most ×0.", "under ×0")
    rows = {row["label"]: row for row in summary(found)}
    assert float(rows["daphne"]["capacity_rps"]) == pytest.approx(mean_of(found, "daphne"), rel=1e-5)
    assert rows["gunicorn"]["capacity_rps_high"] == ""


def test_curve_ends_at_the_knee(results):
    found = results(blocks=3)
    table, [chart] = section(found, "capacity").tables[0], section(found, "capacity").charts
    assert column(table, "capacity, requests/s")["gunicorn"].text == f"{mean_of(found, 'gunicorn'):,.0f}"
    assert column(table, "limited by")["gunicorn"].text == "server"
    rows = [row for row in drawn(chart, "passed") if row["label"] == "uvicorn"]
    capacities = [trial.capacity for trial in found.trials if trial.label == "uvicorn"]
    highest = max(capacity.rate for capacity in capacities)
    assert max(probe.rate for capacity in capacities for probe in capacity.probes) > 1.2 * highest
    assert highest < max(row["rate"] for row in rows) <= 1.1 * highest * 1.05
    assert {row["passed"] for row in rows} == {True, False}


COUNTS = {"connect-capacity": "connections", "echo-capacity": "messages", "broadcast-capacity": "deliveries"}
TIME = {"connect-capacity": "Time to open", "echo-capacity": "Response time", "broadcast-capacity": "Lag"}


def test_capacity_unit_depends_on_kind(build_run):
    run = build_run(labels=("uvicorn", "gunicorn"), tests=tuple(map(conversing, SEARCHES)), blocks=3)
    page, rows = page_of(run), summary(run)
    for kind, counts in COUNTS.items():
        shown = section(page, kind)
        [chart] = shown.charts
        assert shown.tables[0].columns[1] == f"capacity, {counts}/s"
        assert chart.caption.startswith(f"{TIME[kind]} against rate, up to the knee")
        assert chart.alt.startswith(f"Capacity in {counts} per second, ")
        assert f"{counts} per second" in json.dumps(chart.spec, allow_nan=False)
        assert {row["test"] for row in rows if row[f"capacity_{counts}_per_s"]} == {kind}
