"""Test the tables of database connections and of TLS handshakes."""

import dataclasses

from loadtests.records import Handshakes
from tests.fixtures.pages import page_of, summary, texts
from tests.report.changed import replaced, resaved

LABELS = ("gunicorn", "uvicorn")


def gauges(block):
    return {
        "connections": ((0.0, 1), (0.1, 40 + block), (0.2, 5)),
        "connections idle": ((0.0, 1), (0.1, 0), (0.2, 5)),
        "connections left": ((1.2, 40), (10.2, 5)),
        "connections opened": ((10.2, 50),),
        "connections refused": ((10.2, block),),
        "waits for a connection": ((10.2, 200),),
        "waits for a connection in ms": ((10.2, 2500),),
    }


def table(run, name):
    tables = [one for section in page_of(run).sections for one in section.tables]
    return next((one for one in tables if one.name.startswith(name)), None)


def test_connections_are_reported_by_setup(build_run):
    run = build_run(labels=LABELS, tests=("latency",), change=replaced(completed=500))
    assert table(run, "connections-") is None
    resaved(run, lambda trial: {"gauges": gauges(trial.block) if trial.label == "uvicorn" else {}})
    found = table(run, "connections-")
    assert found.columns[:3] == ("setup", "open", "idle")
    assert found.columns[-2:] == ("pool waits/1,000 requests", "ms/pool wait")
    assert list(map(texts, found.rows)) == [["uvicorn", "42", "5", "100", "5", "3", "400", "12"]]
    assert [field.tone for field in found.rows[0]] == ["", "", "", "", "", "bad", "", ""]
    figures = {row["label"]: row for row in summary(run)}
    assert figures["uvicorn"]["milliseconds_of_a_wait_for_Django_s_pool"] == "12.5"


def test_handshakes_are_summed_by_setup(build_run):
    def shaken(label, test, block, result):
        return dataclasses.replace(result, handshakes=Handshakes(block, 1000) if label == "uvicorn" else None)

    assert table(build_run(labels=LABELS, tests=("latency",)), "handshakes-") is None
    found = table(build_run(labels=LABELS, tests=("latency",), change=shaken, name="tls"), "handshakes-")
    assert found.columns == ("setup", "full", "resumed")
    assert list(map(texts, found.rows)) == [["uvicorn", "3", "2,000"]]
