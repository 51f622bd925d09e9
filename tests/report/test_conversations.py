"""Test reports of WebSocket tests: their units, and that each lag is shown with the delivered share."""

import dataclasses

import pytest

from loadtests.records.result import NOTHING
from tests.fixtures.conversations import SEARCHES, TABLES, conversing, delivering, holding
from tests.fixtures.pages import column, page_of, rows_of, section, table, texts
from tests.report.changed import replaced, resaved

LABELS = ("uvicorn", "daphne", "granian")
UNITS = ("connection", "message", "delivery", "connection-second")
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
    page = page_of(run("broadcast", change=delivering(missing={"daphne": 0.03}, lag={"daphne": 0.1})))
    heads = page.answer.table.columns
    assert heads == ("setup", "delivered, %", "lag p50, ms", "CPU at 20/s, µs", "lag p99, ms", "last p50, ms", "MB")
    assert page.answer.headlines[0] == "Deliveries were lost at 20 messages/s: daphne (3.0%)."
    assert column(page.answer.table, "lag p50, ms")["daphne"].detail == "loses 3.0%"

    assert all("Not ranked: daphne (3.00% of its deliveries are missing)." in one.answer for one in page.findings)
    lags = [one.answer for one in page.findings if "lag" in one.question.lower()]
    assert ["Every message reached every receiver." in answer for answer in lags] == [True, True]

    figures, deliveries = section(page, "broadcast").tables
    assert rows_of(figures)["daphne"][3:5] == ["not reached", "97.0"]
    assert list(map(texts, deliveries.rows))[:2] == [
        ["uvicorn", "100.00%", "0", "0", "0", "0", "4.02", "4.02", "4.02", "4.02", "4.02"],
        ["daphne", "97.00%", "1,800", "0", "0", "0", "0.402", "0.402", "0.402", "not reached", "not reached"],
    ]
    daphne = deliveries.rows[1]
    assert (daphne[1].detail, daphne[2].tone) == ("58,200 of 60,000", "bad")

    [verdicts] = section(page, "verdicts").tables
    assert {one[3].text for one in verdicts.rows if one[0].text == "daphne"} == {"loses 3.0%"}


def test_stray_deliveries_include_invalid_trials(run):
    def counts(label, block):
        return {"duplicate": 3, "stray": None if label == "granian" else block - 1}

    made = run("broadcast", change=counting(counts), blocks=2)
    resaved(made, lambda trial: {"status": "invalid" if trial.block == 2 else "ok"})
    found = table(made, "deliveries-broadcast")
    assert [(one[3].text, one[5].text, one[5].tone) for one in found.rows] == [
        ("3", "1", "bad"), ("3", "1", "bad"), ("3", "–", "muted")
    ]  # fmt: skip


def test_lag_with_late_reading_is_unknown(run):
    def reading_late(label, block):
        return {"reading_lag_ms": dict.fromkeys(NOTHING, 2.0 if label == "daphne" else 0.01)}

    page = page_of(run("broadcast", change=counting(reading_late)))
    figures, _ = section(page, "broadcast").tables
    [daphne] = [one for one in figures.rows if one[0].text == "daphne"]
    assert (daphne[1].text, daphne[1].detail) == ("–", "reading delay is up to 50% of p50")
    assert any(one.answer.endswith(" Without a figure: daphne.") for one in page.findings)
    assert rows_of(table(page, "generator"))["daphne"][3] == "2.00"


def test_websocket_page_mentions_no_requests(run):
    page = page_of(run(*TABLES, *SEARCHES, blocks=2))
    reported = [*page.answer.headlines, *page.answer.winners, *(one.answer for one in page.findings)]
    for part in page.sections:
        reported += [*(one.caption for one in part.tables), *(" ".join(one.columns) for one in part.tables)]
        reported += [f"{chart.caption} {chart.alt}" for chart in part.charts]
        reported += part.paragraphs if part.name == "cost" else ()
    assert [text for text in reported if "request" in text] == []
    headings = {heading for table in section(page, "cost").tables for heading in table.columns}
    assert {f"switches/{unit}" for unit in UNITS} <= headings


def test_lost_idle_connections_are_counted(run):
    change = replaced(**NO_REQUESTS, connections=holding(1000, refused=2, lost=1))
    page = page_of(run("idle", change=change))
    [figures] = section(page, "idle").tables
    assert figures.columns[:4] == ("setup", "KB each", "all open after, s", "CPU µs/s each")
    assert rows_of(figures)["uvicorn"][4:7] == ["12", "6", "6"]
    assert page.answer.headlines[0].startswith("Connections were refused or lost with 1,000 connections: uvicorn")
