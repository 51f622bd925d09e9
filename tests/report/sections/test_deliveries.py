"""Messages to many receivers: what arrived, what did not, and how late."""

import dataclasses

import pytest

from loadtests.records import Deliveries
from loadtests.records.result import NOTHING, PERCENTILES
from tests.fixtures.pages import column, section, table
from tests.fixtures.results import histogram_of

LAGS = {"p50": 2.0, "p90": 4.0, "p95": 5.0, "p99": 9.0, "p99.9": 20.0}


def delivering(label, test, block, result):
    """Two setups deliver: one all of it, one with losses, in few messages."""
    if label == "gunicorn":
        return result
    arrived = {"uvicorn": 20_000, "daphne": 900}[label]
    missing = {"uvicorn": 0, "daphne": 100}[label]
    lags = {**NOTHING, **{key: lag * block for key, lag in LAGS.items()}}
    deliveries = Deliveries(arrived + missing, arrived, missing, duplicate=3, reordered=0, lag_ms=lags)
    histograms = {"lag": histogram_of({round(lags["p50"] * 1000): arrived})}
    return dataclasses.replace(result, deliveries=deliveries, histograms=histograms)


@pytest.fixture
def tables(build_run):
    def build(change=delivering, **shape):
        run = build_run(labels=("gunicorn", "uvicorn", "daphne"), blocks=2, change=change, **shape)
        return section(run, "latency").tables

    return build


def test_a_test_whose_trials_deliver_has_a_table_in_its_section(tables):
    figures, deliveries = tables(tests=("latency",))
    assert figures.name == "latency-latency"
    assert deliveries.name == "deliveries-latency"
    rows = {row[0].text: row for row in deliveries.rows}
    assert list(rows) == ["uvicorn", "daphne"]
    reported = {label: [field.text for field in row[1:6]] for label, row in rows.items()}
    assert reported == {"uvicorn": ["100.00%", "0", "6", "0", "0"], "daphne": ["90.00%", "200", "6", "0", "0"]}
    assert rows["daphne"][1].detail == "1,800 of 2,000"
    assert rows["daphne"][2].tone == "bad"


def test_what_strayed_is_counted_in_invalid_trials_too(build_run):
    def straying(label, test, block, result):
        result = delivering("uvicorn", test, block, result)
        return dataclasses.replace(result, deliveries=dataclasses.replace(result.deliveries, stray=block - 1))

    run = build_run(labels=("uvicorn", "daphne"), blocks=2, change=straying, tests=("latency",))
    for trial in run.trials():
        if trial.block == 2:
            run.save_trial(dataclasses.replace(trial, status="invalid"))
    stray = column(table(run, "deliveries-latency"), "stray")
    assert [(field.text, field.tone) for field in stray.values()] == [("1", "bad"), ("1", "bad")]


def test_strays_that_are_not_known_are_shown_as_such_and_why(tables):
    def lobby(label, test, block, result):
        result = delivering(label, test, block, result)
        if result.deliveries is None or label == "daphne":
            return result
        return dataclasses.replace(result, deliveries=dataclasses.replace(result.deliveries, stray=None))

    deliveries = tables(lobby, tests=("latency",))[1]
    stray = column(deliveries, "stray")
    assert {label: field.text for label, field in stray.items()} == {"uvicorn": "–", "daphne": "0"}
    assert "not known: without $ROOM all connections may be in one room" in deliveries.note


def test_a_lag_is_the_median_over_trials_where_all_of_them_know_it(tables):
    deliveries = tables(tests=("latency",))[1]
    lags = {row[0].text: [field.text for field in row[6:]] for row in deliveries.rows}
    assert deliveries.columns[6:] == tuple(f"lag {key}, ms" for key in PERCENTILES)
    # 3,000 messages know no 99.9th percentile, however many deliveries each of them has; and a tenth is missing.
    assert lags["uvicorn"] == ["3.00", "6.00", "7.50", "13.5", "–"]
    assert lags["daphne"] == ["3.00", "3.00", "not reached", "not reached", "–"]


def test_a_test_that_delivers_nothing_has_no_such_table(tables):
    assert len(tables(change=None)) == 1
