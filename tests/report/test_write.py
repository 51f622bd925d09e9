"""Test a report's files, whose bytes depend only on the run folder."""

import json
import shutil
import xml.etree.ElementTree as ET

import altair as alt
import pytest

from loadtests.records.result import NOTHING
from loadtests.records.run.folder import Run
from loadtests.report import reports
from loadtests.report.formats import render
from tests.fixtures.pages import page_of
from tests.fixtures.runs import FIVE
from tests.report.changed import replaced

pytestmark = pytest.mark.slow

TWO = ("gunicorn", "daphne")
CHARTS = {"headline", "verdicts-latency", "verdicts-throughput", "latency-latency", "over-time-throughput"}
CHARTS |= {"cpu-latency", "cpu-throughput"}
LOST = tuple((label, "latency", block) for label in ("gunicorn", "uvicorn") for block in (1, 2))


def test_report_contains_all_files(build_run):
    run = build_run(blocks=6)
    (run.path / "charts").mkdir()
    old = run.path / "charts" / "latency-of-an-earlier-test.svg"
    old.write_text("<svg/>")
    paths = reports.write(run)
    names = {"summary.csv", "index.rst", "report.html", *(f"charts/{name}.svg" for name in CHARTS)}
    assert {path.relative_to(run.path).as_posix() for path in paths} == names
    assert all(path.stat().st_size > 0 for path in paths)
    assert not old.exists()
    drawing = ET.parse(run.path / "charts" / "latency-latency.svg").getroot()
    texts = ["".join(element.itertext()) for element in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {label: texts.count(label) for label in FIVE} == dict.fromkeys(FIVE, 4)  # for p50, p90, p95 and p99
    assert "response time, ms" in texts


def marks(folder):
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in (folder, *folder.rglob("*"))}


@pytest.mark.exhaustive
def test_reports_are_reproducible(build_run, tmp_path):
    first = build_run(labels=TWO, aa=True, invalid=(("daphne", "latency", 2),))
    copy = shutil.copytree(first.path, tmp_path / "elsewhere" / first.path.name)
    written = reports.write(first)
    before = marks(first.path)
    reports.write(Run.open(first.path))
    assert marks(first.path) == before
    again = reports.write(Run.open(copy))
    assert [path.name for path in written] == [path.name for path in again]
    for one, other in zip(written, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


@pytest.mark.exhaustive
def test_every_chart_is_valid_vega_lite(build_run):
    charts = page_of(build_run(labels=TWO, aa=True, tests=("latency", "throughput", "capacity"))).charts
    assert len(charts) == 10
    for chart in charts:
        alt.Chart.from_dict(chart.spec)  # raises SchemaValidationError
        json.dumps(chart.spec, allow_nan=False)


UNKNOWN = dict.fromkeys(("response_time_ms", "send_lag_ms", "pacing_lag_ms"), NOTHING)


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param({"blocks": 0}, id="empty"),
        pytest.param({"labels": ("gunicorn",)}, id="one setup", marks=pytest.mark.exhaustive),
        pytest.param({"labels": TWO, "change": replaced(**UNKNOWN, timeline=(), generator=())}, id="much unknown"),
        pytest.param({"lost": LOST}, id="baseline lost", marks=pytest.mark.exhaustive),
        pytest.param({"labels": tuple("abcdefghijklmn")}, id="fourteen setups", marks=pytest.mark.exhaustive),
    ],
)
def test_any_run_has_a_report(build_run, shape):
    assert {path.name for path in reports.write(build_run(**shape))} >= {"summary.csv", "index.rst", "report.html"}


@pytest.mark.parametrize("data", ["\x1b[31m", "\ud800", "\uffff"])
def test_unprintable_characters_are_removed(build_run, data):
    chart = page_of(build_run(labels=TWO, tests=("latency",), blocks=1)).charts[0]
    clean = render.svg({**chart.spec, "title": {"text": "ab"}})
    assert render.svg({**chart.spec, "title": {"text": f"a{data}b"}}).replace("[31m", "") == clean
    ET.fromstring(clean)
