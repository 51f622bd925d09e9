"""Streams of events: their figures, what was broken off, and what other requests feel, in one table."""

import dataclasses

import pytest

from loadtests.analyse.results import Results
from loadtests.records import Streams
from loadtests.records.result import NOTHING
from loadtests.report.formats.csv import csv_text
from loadtests.report.sections import kinds, verdicts
from tests.fixtures.pages import page_of
from tests.fixtures.results import histogram_of
from tests.fixtures.studies import a_test

HUNDRED = a_test("stream", "hundred", streams=100, rate=125, duration="8s")


def streams(most, in_time, broken=0, unanswered=0, first_ms=5.0):
    answered = 200 - unanswered
    return Streams(
        begun=200, whole=answered - broken, broken=broken, unanswered=unanswered, cut=0, answered=answered,
        events=40 * answered, in_time=in_time, missing=0, most=most,
        first_ms={**NOTHING, "p50": first_ms, "p90": 2 * first_ms},
        delay_ms={**NOTHING, "p50": 1.0, "p99": first_ms, "max": 30.0},
        reading_lag_ms=dict(NOTHING),
    )  # fmt: skip


@pytest.fixture
def results(build_run):
    """A run in which twenty threads stream, and two event loops do."""

    def change(label, _test, block, result):
        if label != "gunicorn":
            found = streams(100, 14_000 + 10 * block, broken=block, first_ms=5.0 + block / 10)
            return dataclasses.replace(result, planned=1000, ok=1000, streams=found)
        found = streams(20, 3_200 - 7 * block, unanswered=80)
        histograms = {"first_event": histogram_of({3_000_000: found.answered})}
        return dataclasses.replace(result, planned=1000, ok=600, unfinished=400, streams=found, histograms=histograms)

    return Results(
        build_run(labels=("gunicorn", "uvicorn", "daphne"), tests=(HUNDRED,), change=change, blocks=4, name="streams")
    )


def test_streams_stand_beside_what_others_feel(results):
    [section] = [one for one in kinds.sections(results) if one.name == "stream"]
    [table] = section.tables
    found = {row[0].text: dict(zip(table.columns, (field.text for field in row), strict=True)) for row in table.rows}
    loop, threads = found["uvicorn"], found["gunicorn"]
    assert list(found)[-1] == "gunicorn"
    assert (loop["at once"], threads["at once"]) == ("100", "20.0")
    assert (loop["broken"], threads["broken"], loop["no event"], threads["no event"]) == ("10", "0", "0", "320")
    assert loop["p90, ms"] == "10.5"
    assert (loop["others failed"], threads["others failed"]) == ("0", "1,600")


def test_a_wall_of_threads_is_told_in_the_verdicts(results):
    [table] = verdicts.section(results).tables
    rows = {row[1].text: [field.text for field in row[2:4]] for row in table.rows if row[0].text == "uvicorn"}
    assert set(rows) == {"events per second", "p99 delay of events", "p99 response time of other requests"}
    assert rows["events per second"] == ["×4.41", "4.4× the throughput"]
    assert any("events that all streams get per second" in one.question.lower() for one in page_of(results).findings)
    assert {"first_event_p90_ms", "event_delay_p99_ms", "memory_kb_per_stream", "cpu_us_per_event"} <= set(
        csv_text(results).splitlines()[0].split(",")
    )
