"""Test that a study's sentence, chart and table start with the count of lost requests or connections."""

import dataclasses

import pytest

from loadtests.errors import UserError
from loadtests.formatting import DASH
from loadtests.records import Deployment, Meanwhile
from tests.fixtures.pages import column, drawn, page_of, rows_of
from tests.fixtures.studies import a_test
from tests.report.changed import resaved

LABELS = ("gunicorn", "daphne", "uvicorn")


def test_deployment_starts_with_lost_requests(build_run):
    def losing(label, test, block, result):
        count = {"gunicorn": 0, "daphne": 7, "uvicorn": 120}[label]
        return dataclasses.replace(result, ok=result.planned - count, errors={"reset": count} if count else {})

    way = {"path": "/wait?ms=20", "rate": 40, "duration": "20s"}
    tests = tuple(a_test("deployment", name, way=name, **way) for name in ("reload", "kill"))
    run = build_run(labels=LABELS, tests=tests, change=losing)
    resaved(run, lambda trial: {"meanwhile": Meanwhile(deployment=Deployment(trial.test, 3.5, 2, 110.0, 112.5))})
    top = page_of(run).top
    assert top.lead == (
        "Requests lost at 40 requests/s for /wait?ms=20 while its workers are replaced gracefully: "
        "none by gunicorn; daphne 14 and uvicorn 240.",
    )
    assert top.rest[0].startswith("Requests lost at 40 requests/s for /wait?ms=20 while a worker is killed: none")
    assert top.chart.spec["title"]["text"] == "Requests lost: none by gunicorn; daphne 14 and uvicorn 240"
    values = {row["label"]: row["value"] for row in drawn(top.chart, "value")}
    assert list(values.items()) == [("gunicorn", 0), ("daphne", 14), ("uvicorn", 240)]
    assert top.table.columns[:3] == ("setup", "lost reload", "lost kill")
    assert [field.tone for field in column(top.table, "lost kill").values()] == ["", "bad", "bad"]


def test_requested_database_counts_come_first(build_run):
    def counted(trial):
        held = 40 if trial.label == "daphne" else 1
        gauges = {"connections": ((0.0, 1), (0.5, held)), "connections left": ((10.2, held - 1),)}
        return {"gauges": gauges if trial.label != "uvicorn" else {}}

    test = a_test("throughput", duration="10s", answers=["open", "left"])
    top = page_of(resaved(build_run(labels=LABELS, tests=(test,), blocks=1), counted)).top
    assert top.lead == (
        "Most database connections open at once with 10 connections: gunicorn 1 and daphne 40.",
        "Database connections left behind with 10 connections: none by gunicorn; daphne 39.",
    )
    assert [row["note"] for row in drawn(top.chart, "note")] == ["1", "40", "not known"]
    assert rows_of(top.table)["uvicorn"][1:3] == [DASH, DASH]
    assert any(one.startswith("Throughput ") for one in top.rest)


def test_many_setups_show_a_range(build_run):
    test = a_test("throughput", duration="10s", answers=["open"])
    run = build_run(labels=tuple(f"setup-{place}" for place in range(9)), tests=(test,), blocks=1)
    resaved(run, lambda trial: {"gauges": {"connections": ((0.0, int(trial.label[-1]) // 2),)}})
    assert page_of(run).top.lead == (
        "Most database connections open at once with 10 connections: none by setup-0 and setup-1; 1 to 4 by 7 setups.",
    )


def test_unknown_count_is_refused():
    with pytest.raises(UserError, match="answers"):
        a_test("throughput", duration="10s", answers=["closed"])
