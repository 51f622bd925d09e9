"""Test the tables of database connections and of TLS handshakes."""

import dataclasses

from loadtests.formatting import DASH
from loadtests.records import Handshakes
from tests.fixtures.pages import drawn, page_of, summary, texts
from tests.report.changed import replaced, resaved

LABELS = ("gunicorn", "uvicorn")


def gauges(block):
    return {
        "connections": ((0.0, 1), (0.1, 40 + block), (0.2, 5)),
        "connections idle": ((0.0, 1), (0.1, 0), (0.2, 5)),
        "connections idle in transaction": ((0.0, 0), (0.1, 0), (0.2, 0)),
        "connections left": ((1.2, 40), (10.2, 5)),
        "connections opened": ((10.2, 50),),
        "connections refused": ((10.2, block),),
    }


def table(run, name):
    tables = [one for section in page_of(run).sections for one in section.tables]
    return next((one for one in tables if one.name.startswith(name)), None)


def charts(run):
    return [one for one in page_of(run).charts if one.name.startswith("connections-over-time-")]


def test_connections_are_reported_by_setup(build_run):
    run = build_run(labels=LABELS, tests=("latency",), change=replaced(completed=500))
    assert table(run, "connections-") is None
    resaved(run, lambda trial: {"gauges": gauges(trial.block) if trial.label == "uvicorn" else {}})
    found = table(run, "connections-")
    rows = {row[0].text: row[1:] for row in found.rows}
    assert texts(rows["uvicorn"]) == ["42", "5", "0", "100", "5", "3"]
    assert [field.tone for field in rows["uvicorn"]] == ["", "", "", "", "", "bad"]
    assert set(texts(rows["gunicorn"])) == {DASH}


def test_pool_waits_have_optional_columns(build_run):
    more = {
        "gunicorn": {"connections to pgbouncer": ((0.0, 3), (0.1, 40))},
        "uvicorn": {"waits for a connection": ((10.2, 200),), "waits for a connection in ms": ((10.2, 2500),)},
    }
    run = build_run(labels=LABELS, blocks=1, tests=("latency",), change=replaced(completed=500))
    resaved(run, lambda trial: {"gauges": {**gauges(1), **more[trial.label]}})
    found = table(run, "connections-")
    assert found.columns[7:] == ("at PgBouncer", "pool waits/1,000 requests", "ms/pool wait")
    rows = {row[0].text: texts(row[7:]) for row in found.rows}
    assert rows == {"gunicorn": ["40", DASH, DASH], "uvicorn": [DASH, "400", "12"]}
    figures = {row["label"]: row for row in summary(run)}
    assert figures["uvicorn"]["waits_for_Django_s_pool_for_1_000_requests"] == "400"
    assert figures["uvicorn"]["milliseconds_of_a_wait_for_Django_s_pool"] == "12.5"
    assert figures["gunicorn"]["milliseconds_of_a_wait_for_Django_s_pool"] == ""
    assert figures["gunicorn"]["database_connections_left_behind"] == "5"


def test_panels_show_connections_over_time(build_run):
    run = build_run(labels=(*LABELS, "daphne"), blocks=1, tests=("latency",))
    assert charts(run) == []
    many = {"connections": tuple((round(0.1 * n, 1), n % 7) for n in range(100)), "connections left": ((11.0, 2),)}
    counted = {"gunicorn": many, "uvicorn": gauges(1), "daphne": {}}
    [chart] = charts(resaved(run, lambda trial: {"gauges": counted[trial.label]}))
    assert "gunicorn up to 6, then 2; uvicorn up to 41, then 5." in chart.alt
    rows = drawn(chart, "ended")
    assert {row["label"] for row in rows} == {"gunicorn", "uvicorn"}
    assert [(row["t"], row["value"]) for row in rows if row["label"] == "uvicorn"][-2:] == [(1.2, 40), (10.2, 5)]
    busy = [row for row in rows if row["label"] == "gunicorn"]
    assert max(row["value"] for row in busy) == 6
    assert len(busy) < 30  # fewer than 30 of the 101 readings are needed to draw the line
    assert {row["ended"] for row in rows} == {run.trials()[0].result.duration_s}


def test_handshakes_are_summed_by_setup(build_run):
    def shaken(label, test, block, result):
        return dataclasses.replace(result, handshakes=Handshakes(block, 1000) if label == "uvicorn" else None)

    assert table(build_run(labels=LABELS, tests=("latency",)), "handshakes-") is None
    found = table(build_run(labels=LABELS, tests=("latency",), change=shaken, name="tls"), "handshakes-")
    assert found.columns == ("setup", "full", "resumed")
    assert list(map(texts, found.rows)) == [["uvicorn", "3", "2,000"]]
