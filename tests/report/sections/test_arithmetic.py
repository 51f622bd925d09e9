"""Test the calculated limits of setups that wait for an origin, next to the measurements."""

import dataclasses

import pytest

from loadtests.analyse.littles_law import waiting
from loadtests.analyse.results import Results
from loadtests.plan.entries import Entry
from loadtests.records import Meanwhile, OriginObservation, OriginStage
from loadtests.records.run.run_record import SetupRecord
from loadtests.report.sections import arithmetic
from loadtests.workload import Request
from tests.fixtures.pages import page_of, texts
from tests.fixtures.studies import a_test
from tests.report.changed import resaved

SLOW = OriginStage(0.0, "200 after 1000 ms", True, 1000.0)
ENTRIES = (
    Entry("few", "gunicorn-gthread", {"THREADS": "16", "POOL_SIZE": "1024"}),
    Entry("many", "gunicorn-gthread", {"THREADS": "64", "WORKERS": "2", "POOL_SIZE": "1024"}),
    Entry("pool", "uvicorn", {"POOL_SIZE": "32"}),
    Entry("free", "uvicorn", {}),
)
THREADED = SetupRecord("threads", "wsgi", "command=gunicorn --threads %(ENV_THREADS)s")
ASYNC = SetupRecord("ASGI", "asgi", "")
SETUPS = {"few": THREADED, "many": THREADED, "pool": ASYNC, "free": ASYNC}
MEASURED = {"few": 15.7, "many": 99.0, "pool": 31.0, "free": 250.0}
CLOSED = a_test("throughput", path="/either/fetch", connections=100, duration="25s")
FIXED = a_test("latency", path="/either/fetch", rate=40, duration="25s")


@pytest.fixture
def results(build_run):
    """Return a function that returns the results of a run whose setups wait for an origin.

    The origin's configured latency is 1 s, and the measured mean is 1.01 s.
    """

    def results(test=CLOSED, stages=(SLOW,), answers=10_000, rested=40.0, unfinished=0, name="a", **measured):
        rates = {**MEASURED, **measured}

        def change(label, test, block, result):
            counts = {"ok": answers, "planned": 990, "unfinished": unfinished}
            return dataclasses.replace(result, rate=rates[label], duration_s=25.0, **counts)

        record, study = {"setups": SETUPS}, {"entries": ENTRIES}
        run = build_run(labels=tuple(rates), tests=(test,), change=change, study=study, record=record, name=name)

        def observed(trial):
            rows = [dataclasses.replace(row, peak_rss_mb=50.0, idle_rss_mb=rested) for row in trial.processes]
            return {"meanwhile": Meanwhile((), OriginObservation(stages, 1000, 1010.0)), "processes": tuple(rows)}

        return Results(resaved(run, observed))

    return results


def by_label(found):
    return {one.label: one for one in found}


def test_tolerance_is_three_percent_or_chance(results):
    assert not by_label(waiting(results(few=15.0), CLOSED))["few"].agrees  # 5.3%
    few = by_label(waiting(results(few=15.0, answers=500, name="few"), CLOSED))["few"]  # 1,000 in two blocks
    assert few.tolerance == pytest.approx(2 / 1000**0.5)
    assert few.agrees


def test_fixed_rate_limits_the_ceiling(results):
    made = results(FIXED, many=39.6, free=39.6)
    found = by_label(waiting(made, FIXED))
    assert found["many"].sent == found["many"].expected == 39.6  # random arrivals give slightly less than 40 per second
    assert found["pool"].expected == pytest.approx(32 / 1.01)


@pytest.mark.parametrize("stages", [(), (SLOW, dataclasses.replace(SLOW, t=20.0))])
def test_only_constant_latency_has_ceiling(results, stages):
    assert waiting(results(stages=stages), CLOSED) == []


def test_views_without_fetches_have_no_ceiling(results):
    other = CLOSED.with_requests((Request("GET /", path="/"),))
    made = results(other)
    assert waiting(made, other) == []
    assert arithmetic.section(made) is None


def test_ceiling_appears_next_to_measurement(results):
    made = results(pool=25.0)
    [table] = arithmetic.section(made).tables
    assert list(map(texts, table.rows)) == [
        ["few", "16 threads", "1,010", "", "15.8", "15.7", "-0.9%", "0.41", "646"],
        ["pool", "32 connections of the pool", "1,010", "", "31.7", "25", "-21.1%", "0.41", "406"],
        ["many", "100 connections", "1,010", "", "99", "99", "-0.0%", "0.41", "102"],
    ]
    assert [row[6].tone for row in table.rows] == ["good", "bad", "good"]
    assert "arithmetic" in [one.name for one in page_of(made).sections]


def test_unobserved_origin_has_no_row(results):
    [table] = arithmetic.section(results(rested=None, unfinished=1)).tables
    assert {(row[8].text, row[6].tone) for row in table.rows} == {("", "")}
