"""Test the table of streams: the streams' figures, interrupted streams, and the times of other requests."""

import dataclasses

import pytest

from loadtests.analyse.results import Results
from loadtests.records import LeftClients, Streams
from loadtests.records.result import NOTHING
from tests.fixtures.pages import column, page_of, rows_of, section, summary
from tests.fixtures.results import histogram_of
from tests.fixtures.studies import a_test

STREAM = {"rate": 125, "duration": "8s"}


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
    """Return a run with streams from a setup with twenty threads, and from a setup with two event loops."""

    def change(label, _test, block, result):
        if label != "gunicorn":
            found = streams(100, 14_000 + 10 * block, broken=block, first_ms=5.0 + block / 10)
            return dataclasses.replace(result, planned=1000, ok=1000, streams=found)
        found = streams(20, 3_200 - 7 * block, unanswered=80)
        histograms = {"first_event": histogram_of({3_000_000: found.answered})}
        return dataclasses.replace(result, planned=1000, ok=600, unfinished=400, streams=found, histograms=histograms)

    hundred = a_test("stream", "hundred", streams=100, **STREAM)
    return Results(build_run(labels=("gunicorn", "uvicorn", "daphne"), tests=(hundred,), change=change, blocks=4))


def test_streams_appear_next_to_other_requests(results):
    page = page_of(results)
    [table] = section(page, "stream").tables
    found = {label: dict(zip(table.columns, row, strict=True)) for label, row in rows_of(table).items()}
    loop, threads = found["uvicorn"], found["gunicorn"]
    assert list(found)[-1] == "gunicorn"
    assert (loop["at once"], threads["at once"]) == ("100", "20.0")
    assert (loop["broken"], threads["broken"], loop["no event"], threads["no event"]) == ("10", "0", "0", "320")
    assert loop["p90, ms"] == "10.5"
    assert (loop["others failed"], threads["others failed"]) == ("0", "1,600")
    known = {"first_event_p90_ms", "event_delay_p99_ms", "memory_kb_per_stream", "cpu_us_per_event"}
    assert known <= set(summary(results)[0])


def test_leaving_and_slow_clients_have_tables(build_run):
    tests = (a_test("stream", "leaving", leave="1s", **STREAM), a_test("stream", "slow", slow=5, **STREAM))

    def change(label, test, _block, result):
        late = 0 if label == "gunicorn" else 60
        left = LeftClients(110, 100 - late, late // 2, late, {**NOTHING, "p50": 90.0})
        found = streams(10, 2_000)
        if test == "slow":
            return dataclasses.replace(result, streams=found, slow_streams=streams(5, 900, broken=late))
        return dataclasses.replace(result, streams=dataclasses.replace(found, left=left))

    run = build_run(labels=("gunicorn", "uvicorn"), tests=tests, change=change, blocks=2)
    tables = {table.name: table for table in section(run, "stream").tables}
    left = {label: row[1:] for label, row in rows_of(tables["leaving-leaving"]).items()}
    assert left == {"gunicorn": ["220", "200", "0", "0"], "uvicorn": ["220", "80", "60", "120"]}
    assert rows_of(tables["slow-slow"])["uvicorn"][1:] == ["400", "280", "120", "0", "0"]
    assert not {"leaving-slow", "slow-leaving"} & {*tables}
    assert {one.text for one in column(tables["stream-leaving"], "within 1 s, %").values()} == {"100", "14.3"}
    assert {"view_ended_p50_ms", "views_ended_in_time_percent", "slow_served_percent"} <= set(summary(run)[0])


def test_search_page_starts_with_capacity(build_run):
    page = page_of(build_run(labels=("gunicorn", "uvicorn"), tests=(a_test("stream-capacity"),), blocks=3))
    assert page.top.lead[0].startswith("Most streams at once within delay p99<100ms, p99<500ms: ")
    assert {"streams", "limited by"} <= set(section(page, "stream-capacity").tables[0].columns)
