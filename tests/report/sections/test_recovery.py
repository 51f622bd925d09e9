"""Test recovery times in the report: in the table of verdicts, and next to the lost requests."""

import dataclasses

import pytest

from loadtests.analyse.results import Results
from loadtests.records import Meanwhile, OriginObservation, OriginStage, Second
from tests.fixtures.pages import page_of, section, summary, texts
from tests.fixtures.studies import a_test
from tests.report.changed import resaved

STUMBLE = a_test("recovery", "stumble", path="/either/fetch", rate=40, duration="40s", services=["origin"])
STAGES = (
    OriginStage(0.0, "200 after 1000 ms", True, 1000.0),
    OriginStage(10.0, "200 after 5000 ms", True, 5000.0),
    OriginStage(20.0, "200 after 1000 ms", True, 1000.0),
)


def seconds(back):
    for t in range(40):
        ok, errors, p50 = (30, 10, 5000.0) if 10 <= t < back else (40, 0, 1005.0)
        yield Second(float(t), 40, 40, ok, errors, p50, p50, ends={"200": ok, "504": errors} if errors else {"200": ok})


@pytest.fixture
def results(build_run):
    """Return a function that returns the results of a run in which each setup recovers at a given second.

    In the second block, each setup recovers a second later.
    """

    def results(**back):
        def change(label, test, block, result):
            failed = 10 * (back[label] - 10)
            counts = {"planned": 1600, "sent": 1600, "ok": 1600 - failed, "errors": {"status": failed}}
            timeline = tuple(seconds(back[label] + block - 1))
            return dataclasses.replace(result, timeline=timeline, duration_s=40.0, **counts)

        run = build_run(labels=("gunicorn", "uvicorn"), tests=(STUMBLE,), change=change, blocks=2)
        return Results(
            resaved(run, lambda trial: {"meanwhile": Meanwhile((), OriginObservation(STAGES, 1600, 3000.0))})
        )

    return results


def test_recovery_times_are_in_verdicts(results):
    page = page_of(results(gunicorn=29, uvicorn=23))
    [table] = section(page, "verdicts").tables
    [row] = table.rows
    assert texts(row[:3]) == ["uvicorn", "time to recover", "×0.43"]
    [table] = section(page, "recovery").tables
    assert [texts((row[0], row[1], *row[4:])) for row in table.rows] == [
        ["uvicorn", "4.47", "1,005", "135", "0", "2"],
        ["gunicorn", "10.5", "1,005", "195", "0", "2"],
    ]


def test_failures_during_outage_are_allowed(results):
    standing = results(gunicorn=29, uvicorn=23).standings["gunicorn", "stumble"]
    assert (standing.overload, standing.fails) == (None, False)
    assert standing.failed > 0.1


def test_missing_recovery_is_not_reached(results):
    found = results(gunicorn=29, uvicorn=60)
    [table] = section(found, "recovery").tables
    assert texts(table.rows[-1])[:2] == ["uvicorn", "not reached"]
    assert "recovery_s" in summary(found)[0]


def test_quick_run_plays_whole_recipe():
    assert (STUMBLE.quick().pace.duration_s, STUMBLE.quick().warmup_s) == (40.0, 1.0)
    assert not STUMBLE.can_interleave
