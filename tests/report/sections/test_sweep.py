"""Test the report of a sweep: heat maps, the cells that equal the best cell within noise, and the advice."""

import dataclasses
import json

import pytest

from loadtests.analyse.results import Results
from loadtests.plan.entries import Entry
from loadtests.plan.sweep import Sweep
from loadtests.report.formats import rest
from loadtests.report.sections import sweep as sweeps
from tests.fixtures.pages import column, page_of
from tests.report.changed import replaced, resaved

SLOWER = {"1w": 2.0, "2w": 1.05, "4w": 1.0}  # times relative to the best time, for any number of threads
MEGABYTES = {"1w": 60.0, "2w": 80.0, "4w": 160.0}


@pytest.fixture
def swept(build_run):
    """Return a function that builds a sweep in which four workers are the best.

    Two workers are 5% slower and need half the memory. One worker is half as fast.
    """

    def build(knobs=None, noise=0.003, slower=SLOWER, also=None, **shape):
        sweep = Sweep("gunicorn", knobs or {"WORKERS": ("1", "2", "4"), "THREADS": ("1", "2")})
        entries = tuple(Entry(**cell) for cell in sweep.cells())

        def change(label, test, block, result):
            chance = ((block * 7 + len(label) * 3 + int(label[3:4] or 0)) % 5) - 2
            times = slower[label[:2]] * (1 + noise * chance / 2)
            response = dict.fromkeys(result.response_time_ms, 5 * times)
            result = dataclasses.replace(result, rate=1000 / times, response_time_ms=response)
            return also(label, test, block, result) if also else result

        labels, study = tuple(one.label for one in entries), {"sweep": sweep, "entries": entries}
        run = build_run(labels=labels, change=change, study=study, **{"blocks": 6, **shape})

        def sized(trial):
            size = MEGABYTES[trial.label[:2]]
            return {
                "processes": tuple(dataclasses.replace(one, peak_rss_mb=size, rss_mb=size) for one in trial.processes)
            }

        return Results(resaved(run, sized))

    return build


def advised(results):
    found = page_of(results).findings[0]
    assert found.question == "What to choose"
    return found.answer


def drawn(results, name):
    """Return the cells of a heat map by label."""
    chart = next(chart for chart in sweeps.section(results).charts if chart.name == name)
    json.dumps(chart.spec, allow_nan=False)
    return {row["label"]: row for row in chart.spec["datasets"][chart.spec["data"]["name"]]}


def test_cheapest_good_cell_is_recommended(swept):
    found = swept(noise=0.3, tests=("throughput",))
    answer = advised(found)
    assert answer.startswith("2 workers × 1 thread is within noise of the best (×0.9")
    assert "of 4 workers × " in answer
    assert "uses 50% of the memory of 4 workers × " in answer
    assert answer.endswith("(80.0 instead of 160 MB). Set WORKERS=2 THREADS=1")
    for name in ("sweep-throughput", "sweep-memory"):
        rows = drawn(found, name)
        assert [label for label, row in rows.items() if row["advised"]] == ["2w-1t"]
        assert rows["2w-1t"]["text"].endswith("advised")


def test_conflicting_measures_name_both_cells(swept):
    def one_worker_is_quick(label, test, block, result):
        if test != "latency":
            return result
        time = 5.0 if label.startswith("1w") else 50.0 + block % 2
        return dataclasses.replace(result, response_time_ms=dict.fromkeys(result.response_time_ms, time))

    said = advised(swept(also=one_worker_is_quick))
    assert "It depends: no cell" in said
    assert "4 workers" in said
    assert "1 worker " in said


def test_unknowable_percentile_allows_advice(swept):
    few = dict.fromkeys(("planned", "sent", "completed", "ok"), 600)
    said = advised(swept(also=replaced(None, "latency", **few)))
    assert said.startswith("4 workers × ")
    assert "Unknown, because the trials are too short: p99 response time. Set WORKERS=4" in said


def test_one_block_prevents_advice(swept):
    found = swept(blocks=1)
    assert advised(found).startswith("Not known: too few blocks")
    assert not any(row.get("detail") or row["advised"] for row in drawn(found, "sweep-throughput").values())


def test_each_measure_has_a_map(swept):
    found = swept(noise=0.3)
    names = [chart.name for chart in sweeps.section(found).charts]
    assert names == ["sweep-latency", "sweep-throughput", "sweep-memory"]
    rows = drawn(found, "sweep-throughput")
    assert (rows["4w-2t"]["down"], rows["4w-2t"]["across"]) == ("4", "2")
    assert [row["mark"] for row in rows.values()].count("best") == 1
    assert (rows["2w-1t"]["mark"], rows["1w-1t"]["mark"]) == ("within", "")
    assert "within noise of the best" in rows["2w-1t"]["text"]


def test_cell_without_valid_trial_is_empty(swept):
    found = swept(lost=tuple(("1w-1t", "throughput", block) for block in range(1, 7)))
    row = drawn(found, "sweep-throughput")["1w-1t"]
    assert (row["note"], row.get("value")) == ("no valid trial", None)
    assert column(sweeps.section(found).tables[0], "requests per second")["1w-1t"].text == "–"


def test_third_knob_creates_panels(swept):
    knobs = {"WORKERS": ("1", "2"), "THREADS": ("1", "2"), "BACKLOG": ("64", "128")}
    rows = drawn(swept(knobs), "sweep-throughput").values()
    assert list(dict.fromkeys(row["panel"] for row in rows)) == ["BACKLOG=64", "BACKLOG=128"]


@pytest.mark.parametrize("shape", [{"blocks": 0}, {"tests": ("capacity",)}, {"knobs": {"WORKERS": ("1", "2")}}])
def test_any_sweep_can_be_written(swept, shape):
    page = page_of(swept(**shape))
    assert page.sections[0].name == "sweep"
    rest.rst(page)
