"""What a report leaves in the run folder: all of it from the folder alone, the same bytes each time."""

import dataclasses
import json
import shutil
import xml.etree.ElementTree as ET

import altair as alt
import pytest

from loadtests.analyse.results import Results
from loadtests.records.run.folder import Run
from loadtests.report import page as pages
from loadtests.report import reports
from loadtests.report.charts.palette import looks
from loadtests.report.formats import render

pytestmark = pytest.mark.slow

CHARTS = {"headline", "verdicts-latency", "verdicts-throughput", "latency-latency", "over-time-throughput"}
CHARTS |= {"cpu-latency", "cpu-throughput"}


@pytest.fixture(scope="module")
def written(run_builder, tmp_path_factory):
    """The folder of a run of six blocks, with what the report wrote into it."""
    run = run_builder(tmp_path_factory.mktemp("written"))(blocks=6)
    return run.path, reports.write(run)


def test_the_folder_has_the_summary_the_charts_and_both_pages(written):
    folder, paths = written
    charts = {f"charts/{name}.svg" for name in CHARTS}
    assert {path.relative_to(folder).as_posix() for path in paths} == {
        "summary.csv",
        "index.rst",
        "report.html",
        *charts,
    }
    assert all(path.stat().st_size > 0 for path in paths)


def test_the_same_folder_gives_the_same_bytes_wherever_it_is(build_run, tmp_path):
    first = build_run(labels=("gunicorn", "daphne"), aa=True, invalid=(("daphne", "latency", 2),))
    copy = shutil.copytree(first.path, tmp_path / "elsewhere" / first.path.name)
    written = reports.write(first)
    again = reports.write(Run.open(copy))
    assert [path.name for path in written] == [path.name for path in again]
    for one, other in zip(written, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_charts_hold_every_setup_and_its_figures(written):
    drawing = ET.parse(written[0] / "charts" / "latency-latency.svg").getroot()
    texts = ["".join(element.itertext()) for element in drawing.iter("{http://www.w3.org/2000/svg}text")]
    for label in ("gunicorn", "daphne-redis", "daphne-ipc", "daphne", "uvicorn"):
        assert texts.count(label) == 4  # a row in each of the panels p50, p90, p95, p99
    assert "response time, ms" in texts


def test_every_chart_is_valid_vega_lite_and_json(build_run):
    run = build_run(labels=("gunicorn", "daphne"), aa=True, tests=("latency", "throughput", "capacity"))
    charts = pages.compose(Results(run)).charts
    assert len(charts) == 10
    for chart in charts:
        alt.Chart.from_dict(chart.spec)  # raises SchemaValidationError
        json.dumps(chart.spec, allow_nan=False)


def test_a_chart_that_is_no_longer_drawn_is_removed(build_run):
    run = build_run(labels=("gunicorn", "uvicorn"))
    (run.path / "charts").mkdir()
    old = run.path / "charts" / "latency-of-an-earlier-test.svg"
    old.write_text("<svg/>")
    reports.write(run)
    assert not old.exists()
    assert len(list((run.path / "charts").iterdir())) == len(CHARTS)


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param({"blocks": 0}, id="empty"),
        pytest.param({"labels": ("gunicorn",)}, id="one setup"),
        *(
            pytest.param(shape, id=name, marks=pytest.mark.exhaustive)
            for name, shape in {
                "one block": {"blocks": 1},
                "one test": {"tests": ("capacity",), "generator_rate": 300},
                "baseline lost": {
                    "lost": tuple((label, "latency", n) for label in ("gunicorn", "uvicorn") for n in (1, 2))
                },
                "fourteen setups": {"labels": ("gunicorn", *(f"a-rather-long-label-{number}" for number in range(13)))},
            }.items()
        ),
    ],
)
def test_any_shape_of_run_has_a_report(build_run, shape):
    run = build_run(**shape)
    assert {path.name for path in reports.write(run)} >= {"summary.csv", "index.rst", "report.html"}


def test_a_result_without_what_an_engine_may_not_know_has_a_report(build_run):
    def forget(label, test, block, result):
        unknown = dict.fromkeys(result.response_time_ms)
        return dataclasses.replace(
            result, response_time_ms=unknown, send_lag_ms=unknown, pacing_lag_ms=unknown, timeline=(), generator=()
        )

    reports.write(build_run(labels=("gunicorn", "daphne"), change=forget))


def test_a_setup_looks_the_same_in_all_charts_and_unlike_the_others():
    labels = [f"setup-{number}" for number in range(14)]
    found = looks(labels)
    assert len({(look.colour, look.dash) for look in found.values()}) == 14
    assert len({(look.colour, look.shape) for look in found.values()}) == 14


def marks(folder):
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in (folder, *folder.rglob("*"))}


def test_a_report_made_again_writes_nothing(build_run):
    run = build_run(labels=("gunicorn", "daphne"), tests=("latency",))
    reports.write(run)
    before = marks(run.path)
    reports.write(Run.open(run.path))
    assert marks(run.path) == before


@pytest.mark.parametrize("data", ["\x1b[31m", "\x00", "\x07", "\ud800", "\uffff", "\x9b31m"])
def test_what_no_drawing_can_hold_is_left_out_of_titles(build_run, data):
    run = build_run(labels=("gunicorn", "daphne"), tests=("latency",), blocks=1, study={"delta": 0.03})
    chart = pages.compose(Results(run)).charts[0]
    clean = render.svg({**chart.spec, "title": {"text": "ab"}})
    assert render.svg({**chart.spec, "title": {"text": f"a{data}b"}}).replace("[31m", "").replace("31m", "") == clean
    ET.fromstring(clean)
