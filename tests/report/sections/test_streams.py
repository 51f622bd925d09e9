"""Streams of events: their figures, what was broken off, and what other requests feel, in one table."""

import dataclasses
import re

import pytest

from loadtests.analyse.results import Results
from loadtests.records import LeftClients, Streams
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


def test_streams_stand_next_to_what_others_feel(results):
    [section] = [one for one in kinds.sections(results) if one.name == "stream"]
    [table] = section.tables
    found = {row[0].text: dict(zip(table.columns, (field.text for field in row), strict=True)) for row in table.rows}
    loop, threads = found["uvicorn"], found["gunicorn"]
    assert list(found)[-1] == "gunicorn"
    assert (loop["at once"], threads["at once"]) == ("100", "20.0")
    assert (loop["broken"], threads["broken"], loop["no event"], threads["no event"]) == ("10", "0", "0", "320")
    assert loop["p90, ms"] == "10.5"
    assert (loop["others failed"], threads["others failed"]) == ("0", "1,600")


def test_where_a_percentile_was_not_reached_the_unit_is_behind_the_others(results):
    answers = [found.answer for found in page_of(results).findings]
    assert any(re.search(r" ms[ ,].*gunicorn not reached\b(?! ms)", answer) for answer in answers), answers
    assert not any("not reached ms" in answer for answer in answers)


def test_a_wall_of_threads_is_reported_in_the_verdicts(results):
    [table] = verdicts.section(results).tables
    rows = {row[1].text: [field.text for field in row[2:4]] for row in table.rows if row[0].text == "uvicorn"}
    assert set(rows) == {"events per second", "p99 delay of events", "p99 response time of other requests"}
    assert rows["events per second"] == ["×4.41", "4.4× the throughput"]
    assert any("events that all streams get per second" in one.question.lower() for one in page_of(results).findings)
    assert {"first_event_p90_ms", "event_delay_p99_ms", "memory_kb_per_stream", "cpu_us_per_event"} <= set(
        csv_text(results).splitlines()[0].split(",")
    )


def test_what_became_of_views_and_of_slow_clients_stands_below(build_run):
    tests = (
        a_test("stream", "leaving", leave="1s", rate=125, duration="8s"),
        a_test("stream", "slow", slow=5, rate=125, duration="8s"),
    )

    def change(label, test, _block, result):
        late = 0 if label == "gunicorn" else 60
        left = LeftClients(110, 100 - late, late // 2, late, {**NOTHING, "p50": 90.0})
        found = streams(10, 2_000)
        if test == "slow":
            return dataclasses.replace(result, streams=found, slow_streams=streams(5, 900, broken=late))
        return dataclasses.replace(result, streams=dataclasses.replace(found, left=left))

    run = build_run(labels=("gunicorn", "uvicorn"), tests=tests, change=change, blocks=2, name="leaving")
    [section] = [one for one in kinds.sections(Results(run)) if one.name == "stream"]
    tables = {table.name: table for table in section.tables}
    rows = {
        name: {row[0].text: [field.text for field in row[1:]] for row in table.rows} for name, table in tables.items()
    }
    assert rows["leaving-leaving"] == {"gunicorn": ["220", "200", "0", "0"], "uvicorn": ["220", "80", "60", "120"]}
    assert rows["slow-slow"]["uvicorn"] == ["400", "280", "120", "0", "0"]
    assert not {"leaving-slow", "slow-leaving"} & {*tables}
    place = tables["stream-leaving"].columns.index("within 1 s, %")
    assert {one[place].text for one in tables["stream-leaving"].rows} == {"100", "14.3"}
    assert {"view_ended_p50_ms", "views_ended_in_time_percent", "slow_served_percent"} <= set(
        csv_text(Results(run)).splitlines()[0].split(",")
    )


def test_the_page_of_a_search_begins_with_the_most_streams(build_run):
    run = build_run(labels=("gunicorn", "uvicorn"), tests=(a_test("stream-capacity"),), blocks=3, name="streams")
    page = page_of(Results(run))
    assert page.top.lead[0].startswith("Most streams at once within delay p99<100ms, p99<500ms: ")
    [section] = [one for one in page.sections if one.name == "stream-capacity"]
    assert {"streams", "limited by"} <= set(section.tables[0].columns)
