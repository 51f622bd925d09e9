"""A sweep in the report: heat maps, the cells within noise of the best, and the advice."""

import dataclasses
import json

import pytest

from loadtests.analyse.results import Results
from loadtests.plan.entries import Entry
from loadtests.plan.sweep import Sweep
from loadtests.report.formats import rest
from loadtests.report.sections import sweep as sweeps
from tests.fixtures.pages import column, page_of

SLOWER = {"1w": 2.0, "2w": 1.05, "4w": 1.0}  # than the best, whatever the threads
MEGABYTES = {"1w": 60.0, "2w": 80.0, "4w": 160.0}


@pytest.fixture
def swept(build_run):
    """Builds a sweep: four workers are the best, two 5% slower and half as big, one half as fast."""

    def build(knobs=None, noise=0.03, slower=SLOWER, also=None, **shape):
        sweep = Sweep("gunicorn", knobs or {"WORKERS": ("1", "2", "4"), "THREADS": ("1", "2")})
        cells = sweep.cells()

        def change(label, test, block, result):
            times = slower[label[:2]] * (
                1 + noise * (((block * 7 + len(label) * 3 + int(label[3:4] or 0)) % 5) - 2) / 2
            )
            response = dict.fromkeys(result.response_time_ms, 5 * times)
            result = dataclasses.replace(result, rate=1000 / times, response_time_ms=response)
            return also(label, test, block, result) if also else result

        labels = tuple(cell["label"] for cell in cells)
        study = {"sweep": sweep, "entries": tuple(Entry(**cell) for cell in cells)}
        run = build_run(labels=labels, change=change, study=study, **{"blocks": 6, **shape})
        for trial in run.trials():
            size = MEGABYTES[trial.label[:2]]
            processes = [dataclasses.replace(one, peak_rss_mb=size, rss_mb=size) for one in trial.processes]
            run.save_trial(dataclasses.replace(trial, processes=tuple(processes)))
        return Results(run)

    return build


def test_the_cheapest_cell_within_noise_of_the_best_is_advised(swept):
    found = swept(noise=0.3, tests=("throughput",))
    reported = page_of(found).findings[0]
    assert reported.question == "What to choose"
    assert reported.answer.startswith("2 workers × 1 thread is within noise of the best (×0.9")
    assert "of 4 workers × " in reported.answer
    assert reported.answer.endswith("uses 50% of its memory (80.0 instead of 160 MB). Set WORKERS=2 THREADS=1")


def test_what_is_surely_slower_is_not_advised_however_cheap(swept):
    reported = page_of(swept(noise=0.003)).findings[0]
    assert reported.answer.startswith("4 workers × ")


def test_where_no_cell_is_good_in_everything_both_are_named(swept):
    def one_worker_is_quick(label, test, block, result):
        if test != "latency":
            return result
        time = 5.0 if label.startswith("1w") else 50.0 + block % 2
        return dataclasses.replace(result, response_time_ms=dict.fromkeys(result.response_time_ms, time))

    said = page_of(swept(noise=0.003, also=one_worker_is_quick)).findings[0].answer
    assert "It depends on the measure" in said
    assert "4 workers" in said
    assert "1 worker " in said


def test_what_no_trial_can_know_does_not_keep_from_advice(swept):
    def few(label, test, block, result):
        counts = dict.fromkeys(("planned", "sent", "completed", "ok"), 600)
        return dataclasses.replace(result, **counts) if test == "latency" else result

    said = page_of(swept(noise=0.003, also=few)).findings[0].answer
    assert said.startswith("4 workers × ")
    assert "Not known, for the trials are too short: p99 response time. Set WORKERS=4" in said


def test_one_block_gives_no_advice(swept):
    found = swept(blocks=1)
    assert page_of(found).findings[0].answer.startswith("Not known: too few blocks")
    assert all("detail" not in row or not row["detail"] for row in drawn(found, "sweep-throughput"))


def drawn(results, name):
    chart = next(chart for chart in sweeps.section(results).charts if chart.name == name)
    json.dumps(chart.spec, allow_nan=False)
    return chart.spec["datasets"][chart.spec["data"]["name"]]


def test_there_is_a_map_of_each_measure_and_of_memory(swept):
    found = swept(noise=0.3)
    names = [chart.name for chart in sweeps.section(found).charts]
    assert names == ["sweep-latency", "sweep-throughput", "sweep-memory"]
    rows = {row["label"]: row for row in drawn(found, "sweep-throughput")}
    assert (rows["4w-2t"]["down"], rows["4w-2t"]["across"]) == ("4", "2")
    assert [row["mark"] for row in rows.values()].count("best") == 1
    assert rows["2w-1t"]["mark"] == "within"
    assert rows["1w-1t"]["mark"] == ""
    assert "within noise of the best" in rows["2w-1t"]["text"]


def test_the_advised_cell_is_marked_on_every_map(swept):
    found = swept(noise=0.3, tests=("throughput",))
    for name in ("sweep-throughput", "sweep-memory"):
        rows = {row["label"]: row for row in drawn(found, name)}
        assert [label for label, row in rows.items() if row["advised"]] == ["2w-1t"]
        assert rows["2w-1t"]["text"].endswith("advised")


def test_nothing_is_marked_where_nothing_is_advised(swept):
    assert not any(row["advised"] for row in drawn(swept(blocks=1), "sweep-throughput"))


def test_stronger_is_better_and_what_hardly_differs_looks_alike(swept):
    rate = {row["label"]: row["fill"] for row in drawn(swept(noise=0.01), "sweep-throughput")}
    p99 = {row["label"]: row["fill"] for row in drawn(swept(name="b", noise=0.01), "sweep-latency")}
    assert rate["1w-1t"] == p99["1w-1t"] != rate["4w-1t"] == p99["4w-1t"]
    alike = drawn(swept(name="c", noise=0.01, slower=dict.fromkeys(SLOWER, 1.0)), "sweep-throughput")
    assert len({row["fill"] for row in alike}) == 1


def test_a_cell_without_a_valid_trial_is_an_empty_cell(swept):
    lost = tuple(("1w-1t", "throughput", block) for block in range(1, 7))
    found = swept(lost=lost)
    row = next(row for row in drawn(found, "sweep-throughput") if row["label"] == "1w-1t")
    assert (row["note"], row.get("value")) == ("no valid trial", None)
    assert column(sweeps.section(found).tables[0], "requests per second")["1w-1t"].text == "–"


@pytest.mark.parametrize(
    ("knobs", "panels"),
    [
        ({"WORKERS": ("1", "2")}, [""]),
        ({"WORKERS": ("1", "2"), "THREADS": ("4",)}, [""]),
        ({"WORKERS": ("1", "2"), "THREADS": ("1", "2"), "BACKLOG": ("64", "128")}, ["BACKLOG=64", "BACKLOG=128"]),
    ],
)
def test_one_knob_is_a_row_and_a_third_makes_panels(swept, knobs, panels):
    rows = drawn(swept(knobs), "sweep-throughput")
    assert list(dict.fromkeys(row["panel"] for row in rows)) == panels
    if len(knobs) == 1:
        assert {row["down"] for row in rows} == {""}


@pytest.mark.parametrize("shape", [{}, {"blocks": 0}, {"blocks": 1}, {"aa": False, "tests": ("capacity",)}])
def test_any_shape_is_written(swept, shape):
    page = page_of(swept(**shape))
    assert page.sections[0].name == "sweep"
    rest.rst(page)


def test_a_study_that_is_no_sweep_has_no_section(build_run):
    found = Results(build_run())
    assert sweeps.section(found) is None
    assert sweeps.findings(found) == ()
