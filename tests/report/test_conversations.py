"""Test reports of WebSocket tests: their units, and that each lag is shown with the delivered share."""

import dataclasses
import json

import pytest

from loadtests.records.result import NOTHING
from tests.fixtures.conversations import SEARCHES, TABLES, conversing, delivering, holding
from tests.fixtures.pages import page_of, rows_of, section, summary, table, texts
from tests.report.changed import replaced, resaved
from tests.report.test_answer import first_said, printed, row

LABELS = ("uvicorn", "daphne", "granian")
UNITS = {"connect": "connection", "echo": "message", "broadcast": "delivery", "idle": "connection-second"}
NO_REQUESTS = {**dict.fromkeys(("planned", "sent", "completed", "ok"), 0), "rate": 0.0, "timeline": ()}


@pytest.fixture
def run(build_run):
    def build(*kinds, change=None, **shape):
        tests = tuple(conversing(kind) for kind in kinds)
        return build_run(**{"labels": LABELS, "tests": tests, "blocks": 6, "change": change or delivering(), **shape})

    return build


def counting(counts):
    """Return a change that completes all deliveries, and then replaces the fields that ``counts`` returns."""

    def change(label, test, block, result):
        result = delivering()(label, test, block, result)
        deliveries = dataclasses.replace(result.deliveries, **counts(label, block))
        return dataclasses.replace(result, deliveries=deliveries)

    return change


def test_setup_with_losses_is_not_ranked(run):
    # Daphne would be the fastest, but loses messages.
    made = run("broadcast", change=delivering(missing={"daphne": 0.03}, lag={"daphne": 0.1}))
    page = page_of(made)
    heads = page.answer.table.columns
    assert heads == ("setup", "lag p50, ms", "lag p99, ms", "last p50, ms", "CPU at 20/s, µs", "delivered, %", "MB")
    lines = printed(made)
    assert first_said(lines) == "Deliveries were lost at 20 messages/s, so not ranked: daphne 3.0%."
    assert {"loses", "3.0%", "97.0"} <= set(row(lines, "daphne"))

    first, *rest = page.findings
    assert first.question == "Which setups deliver all messages, at 20 messages/s"
    assert first.answer == "daphne loses 3.0%. All others do."
    assert all("Not ranked: daphne (3.00% of its deliveries are missing)." in one.answer for one in rest)
    lags = [one.answer for one in rest if "lag" in one.question.lower()]
    assert ["Every message reached every receiver." in answer for answer in lags] == [True, True]

    figures, deliveries = section(page, "broadcast").tables
    assert rows_of(figures)["daphne"][3:5] == ["not reached", "97.0"]
    assert list(map(texts, deliveries.rows))[:2] == [
        ["uvicorn", "100.00%", "0", "0", "0", "0", "4.02", "4.02", "4.02", "4.02", "4.02"],
        ["daphne", "97.00%", "1,800", "0", "0", "0", "0.402", "0.402", "0.402", "not reached", "not reached"],
    ]
    daphne = deliveries.rows[1]
    assert (daphne[1].detail, daphne[2].tone) == ("58,200 of 60,000", "bad")

    [verdicts], [chart] = section(page, "verdicts").tables, section(page, "verdicts").charts
    assert {one[3].text for one in verdicts.rows if one[0].text == "daphne"} == {"loses 3.0%"}
    assert "loses more than 0.01% of its deliveries" in section(page, "verdicts").reading
    assert "loses 3.0%" in chart.alt
    json.dumps(chart.spec)


def test_incomplete_delivery_shows_delivered_share(run):
    page = page_of(run("broadcast", change=delivering(missing={"daphne": 0.0001})))
    lags = [one.answer for one in page.findings if "lag" in one.question.lower()]
    assert [" Delivered: 99.9" in answer and "% or more." in answer for answer in lags] == [True, True]


def test_stray_deliveries_include_invalid_trials(run):
    def counts(label, block):
        return {"duplicate": 3, "stray": None if label == "granian" else block - 1}

    made = run("broadcast", change=counting(counts), blocks=2)
    resaved(made, lambda trial: {"status": "invalid" if trial.block == 2 else "ok"})
    found = table(made, "deliveries-broadcast")
    assert [(one[3].text, one[5].text, one[5].tone) for one in found.rows] == [
        ("3", "1", "bad"), ("3", "1", "bad"), ("3", "–", "muted")
    ]  # fmt: skip
    assert "unknown: without $ROOM, all connections may share a room" in found.note


def test_lag_with_late_reading_is_unknown(run):
    def reading_late(label, block):
        return {"reading_lag_ms": dict.fromkeys(NOTHING, 2.0 if label == "daphne" else 0.01)}

    page = page_of(run("broadcast", change=counting(reading_late)))
    figures, _ = section(page, "broadcast").tables
    [daphne] = [one for one in figures.rows if one[0].text == "daphne"]
    assert (daphne[1].text, daphne[1].detail) == ("–", "reading delay is up to 50% of p50")
    assert any(one.answer.endswith(" Without a figure: daphne.") for one in page.findings)
    assert rows_of(table(page, "generator"))["daphne"][3] == "2.00"


@pytest.mark.parametrize("kind", [*TABLES, *SEARCHES])
def test_websocket_page_mentions_no_requests(run, kind):
    page = page_of(run(kind), price=0.04)
    reported = [*page.answer.headlines, *page.answer.winners, *(one.answer for one in page.findings)]
    for part in page.sections:
        reported += [*(one.caption for one in part.tables), *(" ".join(one.columns) for one in part.tables)]
        reported += [f"{chart.caption} {chart.alt}" for chart in part.charts]
        reported += part.paragraphs if part.name == "cost" else ()
    assert [text for text in reported if "request" in text] == []
    cost = section(page, "cost")
    assert f"switches/{UNITS[kind.partition('-')[0]]}" in cost.tables[0].columns


def test_summary_columns_match_the_tests(run):
    rows = summary(run("echo", "broadcast", "idle"))
    assert {"lag_p99_ms", "delivered_percent", "cpu_us_per_delivery", "cpu_us_per_message"} <= set(rows[0])
    assert not {"rps", "capacity_rps", "cpu_ms_per_request"} & set(rows[0])
    broadcast = next(one for one in rows if one["test"] == "broadcast")
    assert float(broadcast["delivered_percent"]) == 100
    assert broadcast["cpu_us_per_message"] == ""
    assert float(broadcast["wire_bytes_per_delivery"]) == pytest.approx(300)


def test_idle_connections_have_role_rows(run):
    def grown(trial):
        return {"processes": tuple(dataclasses.replace(one, idle_rss_mb=one.rss_mb - 20) for one in trial.processes)}

    change = replaced(**NO_REQUESTS, connections=holding(1000, refused=2, lost=1))
    made = resaved(run("idle", change=change), grown)
    figures, roles = section(made, "idle").tables
    assert figures.columns[:4] == ("setup", "KB each", "all open after, s", "CPU µs/s each")
    uvicorn = rows_of(figures)["uvicorn"]
    assert (uvicorn[1:3], uvicorn[4:7]) == (["20.5", "1.50"], ["12", "6", "6"])
    assert texts(roles.rows[0])[1:3] == ["web", "20.5"]
    said = " ".join(printed(made))
    assert "Connections were refused or lost with 1,000 connections, so not ranked:" in said


def test_shared_metric_names_the_kind(run):
    heads = page_of(run("connect", "echo")).answer.table.columns
    assert {"p50 connect, ms", "p50 echo, ms"} <= set(heads)
