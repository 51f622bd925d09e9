"""Test pictures over time: their panels, the drawn block, and their descriptions."""

import re

import altair as alt
import pytest

from loadtests.analyse.results import Results
from loadtests.records import CpuSample, Meanwhile, OriginObservation, OriginStage, Second
from loadtests.report.formats import render
from loadtests.report.formats.html import html
from loadtests.report.formats.rest import rst
from loadtests.report.sections import pictures
from loadtests.report.sections.kinds import throughput
from tests.fixtures.pages import drawn, page_of
from tests.report.changed import replaced, resaved

LABELS = ("gunicorn", "uvicorn")
STAGES = (
    OriginStage(0.0, "200 after 1000 ms", True, 1000.0),
    OriginStage(4.0, "503 after 50 ms", False, 50.0),
    OriginStage(8.0, "200 after 1000 ms", True, 1000.0),
)


def second(t, ok=300, stale=0, failed=0):
    kinds = {"200": ok - stale, "stale": stale, "503": failed}
    return Second(float(t), ok + failed, ok, ok, failed, 2.0, 8.0, 4.0, ends={key: n for key, n in kinds.items() if n})


def observed(seconds):
    """Return observations of a server's and an origin's CPU time, and of an origin whose stages change."""
    samples = tuple(CpuSample(float(t), {"web": 0.5, "origin": 0.125}) for t in range(1, seconds + 1))
    return Meanwhile(samples, OriginObservation(STAGES, 10, 5.0))


@pytest.fixture
def results_of(build_run):
    """Return a function that returns the results of a run with seconds and observations in each trial."""

    def results_of(seconds=range(10), of=second, meanwhile=None, gauges=None, **shape):
        change = replaced(timeline=tuple(map(of, seconds)))
        run = build_run(**{"labels": LABELS, "tests": ("latency",), "change": change, **shape})
        return Results(resaved(run, lambda trial: {"meanwhile": meanwhile, "gauges": gauges or {}}))

    return results_of


@pytest.fixture
def picture(results_of):
    """Return a function that returns the first setup's picture."""
    return lambda *args, **shape: pictures.section(results_of(*args, **shape)).charts[0]


def lines(chart):
    """Return the values of each line by its name."""
    found = {}
    for row in drawn(chart, "name", "value"):
        if "t2" not in row:
            found.setdefault(row["name"], []).append(row["value"])
    return found


def test_times_are_whole_seconds(picture):
    spec = picture(range(4)).spec
    assert re.findall(r">(\d\.\d)</text>", render.svg({**spec, "vconcat": spec["vconcat"][:1]})) == []


def headings(chart):
    return [panel["title"]["text"] for panel in chart.spec["vconcat"] if "title" in panel]


def test_picture_shows_the_median_block(results_of):
    charts = pictures.section(results_of(tests=("latency", "throughput"), blocks=3)).charts
    assert {(chart.name, chart.caption) for chart in charts} == {
        (f"seconds-{test}-{label}", f"{label} in {test}, second by second, in block 2.")
        for test in ("latency", "throughput")
        for label in LABELS
    }
    assert all(chart.summary.startswith(("gunicorn, ", "uvicorn, ")) for chart in charts)


@pytest.mark.parametrize(
    ("name", "heading"),
    [("in use", "pool connections in use, and waiting fetches"), ("connections", "connections to the database")],
)
def test_gauges_show_pool_or_database(picture, name, heading):
    chart = picture(gauges={name: ((0.5, 3), (1.5, 4)), "connections left": ((12.0, 9),)})
    assert lines(chart)[name] == [3, 4]
    assert headings(chart)[-1] == heading


@pytest.mark.parametrize(("seconds", "charts"), [(2, []), (4, []), (5, ["over-time-throughput"])])
def test_few_readings_have_no_picture(results_of, seconds, charts):
    results = results_of(range(seconds), tests=("throughput",))
    assert [chart.name for chart in throughput.charts(results, results.test("throughput"))] == charts
    assert (pictures.section(results) is None) == (seconds < pictures.MIN_SECONDS)


def test_answers_stack_by_status(picture):
    chart = picture(of=lambda t: second(t, 90, stale=30, failed=8))
    first = [row for row in drawn(chart, "good") if row["t"] == 0]
    assert [(row["name"], row["value"], row["good"]) for row in first] == [
        ("200", 60, True),
        ("stale", 30, True),
        ("503", 8, False),
    ]


def test_lines_continue_across_origin_stages(picture):
    chart = picture(meanwhile=observed(10))
    assert lines(chart) == {
        **{name: [value] * 10 for name, value in (("p50", 2.0), ("p95", 4.0), ("p99", 8.0), ("in flight", 0))},
        **{"origin": [0.125] * 10, "web": [0.5] * 10},
    }
    bands = [row for row in drawn(chart, "usual") if not row["usual"]]
    assert {(row["t"], row["t2"], row["text"]) for row in bands} == {(4.0, 8.0, "503 after 50 ms")}
    assert len(headings(chart)) == 4  # including the panel for CPU time
    assert "the origin: 200 after 1000 ms, 503 after 50 ms and 200 after 1000 ms" in chart.alt


def test_long_test_merges_seconds(picture):
    columns = drawn(picture(range(150), lambda t: second(t, 300 + 30 * (t % 3))), "good")
    assert len(columns) == 50
    assert (columns[0]["t"], columns[0]["t2"], columns[0]["value"]) == (0, 3, 330)


def test_only_best_setups_have_charts(results_of):
    section = pictures.section(results_of(labels=tuple(f"setup-{number}" for number in range(11))))
    assert len(section.charts) == pictures.MAX_SETUPS
    assert section.paragraphs[-1] == "The charts show the best 8 of 11 setups in latency."


def test_picture_is_valid_html(results_of):
    results = results_of(range(120), lambda t: second(t, failed=3), observed(120))
    page = page_of(results)
    [chart, _] = pictures.section(results).charts
    alt.Chart.from_dict(chart.spec)
    text = html(page, dict.fromkeys([one.name for one in page.charts], render.svg(chart.spec)))
    assert text.count('<figure id="seconds-latency-gunicorn">') == 1
    assert "<details><summary>gunicorn, latency: " in text
    assert len(text.encode()) / len(page.charts) < 120_000
    assert ".. figure:: charts/seconds-latency-gunicorn.svg" in rst(page)
