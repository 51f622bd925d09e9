"""Messages to many receivers: what arrived, what did not, and how late."""

import dataclasses

import pytest

from loadtests.records import Deliveries
from loadtests.records.result import NOTHING, PERCENTILES
from tests.fixtures.pages import column, section, table, texts
from tests.fixtures.results import histogram_of

LAGS = {"p50": 2.0, "p90": 4.0, "p95": 5.0, "p99": 9.0, "p99.9": 20.0}
ARRIVED, MISSING = {"uvicorn": 20_000, "daphne": 900}, {"uvicorn": 0, "daphne": 100}


def delivering(label, test, block, result, **counts):
    """Two setups deliver: one all of it, one with losses, in few messages."""
    if label == "gunicorn":
        return result
    arrived, missing = ARRIVED[label], MISSING[label]
    lags = {**NOTHING, **{key: lag * block for key, lag in LAGS.items()}}
    deliveries = Deliveries(arrived + missing, arrived, missing, duplicate=3, reordered=0, lag_ms=lags)
    histograms = {"lag": histogram_of({round(lags["p50"] * 1000): arrived})}
    return dataclasses.replace(result, deliveries=dataclasses.replace(deliveries, **counts), histograms=histograms)


@pytest.fixture
def run(build_run):
    def build(change):
        return build_run(labels=("gunicorn", "uvicorn", "daphne"), blocks=2, change=change, tests=("latency",))

    return build


def test_a_test_whose_trials_deliver_has_a_table_in_its_section(run):
    figures, deliveries = section(run(delivering), "latency").tables
    assert (figures.name, deliveries.name) == ("latency-latency", "deliveries-latency")
    assert deliveries.columns[6:] == tuple(f"lag {key}, ms" for key in PERCENTILES)
    # The median over trials where all of them know it: 3,000 messages know no 99.9th percentile, however many
    # deliveries each of them has; and a tenth is missing.
    assert list(map(texts, deliveries.rows)) == [
        ["uvicorn", "100.00%", "0", "6", "0", "0", "3.00", "6.00", "7.50", "13.5", "–"],
        ["daphne", "90.00%", "200", "6", "0", "0", "3.00", "3.00", "not reached", "not reached", "–"],
    ]
    daphne = deliveries.rows[1]
    assert (daphne[1].detail, daphne[2].tone) == ("1,800 of 2,000", "bad")


def test_what_strayed_is_counted_in_invalid_trials_too(run):
    made = run(lambda label, test, block, result: delivering(label, test, block, result, stray=block - 1))
    for trial in made.trials():
        if trial.block == 2:
            made.save_trial(dataclasses.replace(trial, status="invalid"))
    stray = column(table(made, "deliveries-latency"), "stray")
    assert [(field.text, field.tone) for field in stray.values()] == [("1", "bad"), ("1", "bad")]


def test_strays_that_are_not_known_are_shown_as_such_and_why(run):
    def lobby(label, test, block, result):
        return delivering(label, test, block, result, **({"stray": None} if label == "uvicorn" else {}))

    deliveries = table(run(lobby), "deliveries-latency")
    assert {label: field.text for label, field in column(deliveries, "stray").items()} == {
        "uvicorn": "–",
        "daphne": "0",
    }
    assert "not known: without $ROOM all connections may be in one room" in deliveries.note


def test_a_test_that_delivers_nothing_has_no_such_table(run):
    assert len(section(run(None), "latency").tables) == 1
