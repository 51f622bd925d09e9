"""Test pictures over time: their panels, the drawn block, and their descriptions."""

import json
import xml.etree.ElementTree as ET

import altair as alt
import pytest

from loadtests.analyse.results import Results
from loadtests.records import CpuSample, Meanwhile, OriginObservation, OriginStage, Second
from loadtests.report.formats import render
from loadtests.report.formats.html import html
from loadtests.report.formats.rest import rst
from loadtests.report.sections import pictures
from loadtests.report.sections.kinds import throughput
from tests.fixtures.pages import page_of
from tests.report.changed import replaced, resaved

LABELS = ("gunicorn", "uvicorn")
STAGES = (
    OriginStage(0.0, "200 after 1000 ms", True, 1000.0),
    OriginStage(4.0, "503 after 50 ms", False, 50.0),
    OriginStage(8.0, "200 after 1000 ms", True, 1000.0),
)


def second(t, ok=300, p50=2.0, **ends):
    bad = sum(count for name, count in ends.items() if name != "stale")
    kinds = {"200": ok - ends.get("stale", 0), **{name.strip("_"): count for name, count in ends.items()}}
    heat = ((1.5, ok // 2), (2.0, ok - ok // 2))
    return Second(float(t), ok + bad, ok, ok, bad, p50, p50 * 4, p50 * 2, heat, kinds)


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


def rows(chart, *keys):
    """Return the data of the panel whose rows have these keys."""
    found = [data for data in chart.spec["datasets"].values() if data and set(keys) <= set(data[0])]
    return next((rows for rows in found if "usual" not in rows[0]), [])


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
    [("in use", "pool connections in use"), ("connections", "connections to the database")],
)
def test_gauges_show_pool_or_database(picture, name, heading):
    chart = picture(gauges={name: ((0.5, 3), (1.5, 4))})
    assert [row["value"] for row in rows(chart, "text", "value")] == [3, 4]
    assert any(panel["title"]["text"].startswith(heading) for panel in chart.spec["vconcat"])


def test_margins_fit_the_longest_name(picture):
    chart = picture(meanwhile=Meanwhile((CpuSample(1.5, {"a-long-role": 1.0}),), None))
    assert chart.spec["config"]["padding"]["right"] == 12 + len("a-long-role")


def test_short_runs_have_no_pictures(build_run, results_of):
    assert pictures.section(Results(build_run(labels=LABELS, name="earlier"))) is None
    assert pictures.section(results_of(range(2))) is None


@pytest.mark.parametrize(("seconds", "drawn"), [(4, []), (5, ["over-time-throughput"])])
def test_few_readings_have_no_picture(results_of, seconds, drawn):
    results = results_of(range(seconds), tests=("throughput",))
    assert [chart.name for chart in throughput.charts(results, results.test("throughput"))] == drawn


def test_answers_stack_by_status(results_of):
    section = pictures.section(results_of(of=lambda t: second(t, 90, _503=8, stale=30)))
    first = [row for row in rows(section.charts[0], "good") if row["t"] == 0]
    assert [(row["name"], row["low"], row["high"], row["good"]) for row in first] == [
        ("200", 0, 60, True),
        ("stale", 60, 90, True),
        ("503", 90, 98, False),
    ]
    assert "X-Stale" in section.paragraphs[1]


def test_lines_continue_across_origin_stages(picture):
    chart = picture(meanwhile=observed(10))
    lines = {(row["name"], row["value"]) for row in rows(chart, "name", "value")}
    assert lines == {("p50", 2.0), ("p95", 4.0), ("p99", 8.0)}
    in_flight = next(data for data in chart.spec["datasets"].values() if data[0].get("name") == "in flight")
    assert [row["value"] for row in in_flight] == [0.0] * 10
    bands = next(data for data in chart.spec["datasets"].values() if "usual" in data[0])
    assert [(row["t"], row["t2"], row["text"]) for row in bands if not row["usual"]] == [(4.0, 8.0, "503 after 50 ms")]
    assert rows(chart, "text", "t2")[4]["text"] == (
        "gunicorn: second 5: 300/s 200, p50 2.00 ms, p95 4.00 ms, p99 8.00 ms, 0 in flight, origin 0.12 cores, "
        "web 0.50 cores, origin: 503 after 50 ms"
    )
    panels = chart.spec["vconcat"]
    assert len(panels) == 5  # including the panel for CPU time
    assert all(any(layer["mark"].get("fill") == "#c9d3de" for layer in panel["layer"]) for panel in panels)
    assert "the origin: 200 after 1000 ms, 503 after 50 ms and 200 after 1000 ms" in chart.alt


def test_long_test_merges_seconds(picture):
    columns = rows(picture(range(150), lambda t: second(t, 300 + 30 * (t % 3))), "text", "t2")
    assert len(columns) == 50
    assert columns[0]["text"].startswith("gunicorn: seconds 1 to 3: 330/s 200, p50 2.00 ms")


def test_only_best_setups_have_charts(results_of):
    section = pictures.section(results_of(labels=tuple(f"setup-{number}" for number in range(11))))
    assert len(section.charts) == pictures.MAX_SETUPS
    assert section.paragraphs[-1] == "The charts show the best 8 of 11 setups in latency."


def test_picture_is_valid_html(results_of):
    results = results_of(range(120), lambda t: second(t, 300, 2.0 + t % 7, _503=3), observed(120))
    page = page_of(results)
    [chart, _] = pictures.section(results).charts
    alt.Chart.from_dict(chart.spec)
    json.dumps(chart.spec, allow_nan=False)
    drawn = render.svg(chart.spec)
    assert ET.fromstring(drawn).tag.endswith("svg")
    text = html(page, dict.fromkeys([one.name for one in page.charts], drawn))
    assert text.count('<figure id="seconds-latency-gunicorn">') == 1
    assert "<details><summary>gunicorn, latency: " in text
    assert len(text.encode()) / len(page.charts) < 120_000
    assert ".. figure:: charts/seconds-latency-gunicorn.svg" in rst(page)
