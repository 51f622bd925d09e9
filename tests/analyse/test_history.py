"""A study's results over time: which of them are changes, and what is said of those."""

import dataclasses
import io
import xml.etree.ElementTree as ET
from math import inf

import numpy as np
import pytest
from rich.console import Console

from loadtests.analyse.changes import Point, between_runs, changes
from loadtests.analyse.history import history_of
from loadtests.errors import UserError
from loadtests.report.formats import history as history_output
from loadtests.report.formats.history import spec
from tests.fixtures.changes import slowed
from tests.fixtures.runs import known_test
from tools.simulation.histories import KINDS, simulate_history

LABELS = ("gunicorn", "uvicorn")
STEADY = (1.0, 1.01, 0.99, 1.0, 1.01)


def on(created, **record):
    """The record of a run of that day."""
    return {"created": f"{created}T07:30:00+00:00", **record}


@pytest.fixture
def days(build_run):
    """Writes a run for each factor by which uvicorn is slower that day; those after the steady ones have ``record`` and
    are changed by ``change``."""

    def build(*factors, record=None, change=None, **options):
        for day, factor in enumerate(factors, start=1):
            of_record, changed = (record or {}, change) if day > len(STEADY) else ({}, None)
            run = build_run(
                labels=LABELS, blocks=6, name=f"2026-11-{day:02d}-first-look",
                change=changed or slowed({"uvicorn": factor}, rate=True),
                record=on(f"2026-11-{day:02d}", **of_record), **options,
            )  # fmt: skip
        return run.path.parent

    return build


def printed(found):
    text = io.StringIO()
    history_output.print_history(found, ["history.svg"], Console(file=text))
    return text.getvalue()


def test_a_change_is_marked_at_its_first_run_with_what_else_changed(days):
    versions = {"python": "CPython 3.11.2", "gil": True, "packages": {"Django": "5.2.19", "uvicorn": "0.55.0"}}
    found = history_of("first-look", days(*STEADY, 1.3, 1.3, record={"versions": versions}))
    assert list(found.runs) == [f"2026-11-{day:02d}-first-look" for day in range(1, 8)]
    marked = {(one.series.label, one.series.metric): one for one in found.changes}
    assert set(marked) == {("uvicorn", "p50_ms"), ("uvicorn", "p99_ms"), ("uvicorn", "rps")}
    one = marked["uvicorn", "p50_ms"]
    assert (one.series.against, one.before) == ("gunicorn", "2026-11-05-first-look")
    assert (one.mark.point.run, one.mark.change) == ("2026-11-06-first-look", pytest.approx(1.3, rel=0.02))
    differences = [(what.kind, what.what, what.before, what.after) for what in one.differences]
    assert ("package", "uvicorn", None, "0.55.0") in differences
    text = printed(found)
    assert "gunicorn   ×1.30  worse" in text
    assert "What else changed from 2026-11-05-first-look to 2026-11-06-first-look:" in text
    assert "0.55.0" in text


@pytest.mark.slow
def test_a_change_is_drawn_and_said_in_words(days, tmp_path):
    found = history_of("first-look", days(*STEADY, 1.4, 1.4))
    assert "Nothing in the records." in printed(found)
    rows = [row["text"] for part in spec(found)["datasets"].values() for row in part]
    assert any("uvicorn: 2026-11-06-first-look" in text and "changed ×1.40" in text for text in rows)
    for name in ("a.chart", "a.chart.svg"):
        file = history_output.write(found, tmp_path / "charts" / name)
        assert file.name == "a.chart.svg"
    texts = {element.text for element in ET.parse(file).iter()}
    assert {"latency: p50 response time, ms", "throughput: requests per second"} <= texts
    assert {"2026-11-06", "uvicorn", "×1.40"} <= texts


def failing_baseline(label, test, block, result):
    half = result.planned // 2
    if label == "gunicorn":
        result = dataclasses.replace(result, ok=half, completed=half, errors={"timeout": result.planned - half})
    return slowed({"uvicorn": 1.3}, rate=True)(label, test, block, result)


SHORT, NO_CHANGE = "No change is marked: that takes 7 runs.", "No significant change."


@pytest.mark.parametrize(
    ("factors", "options", "changed", "says"),
    [
        pytest.param((3.0,), {}, set(), SHORT, id="fewer than seven runs"),
        pytest.param((1.01, 1.0), {"aa": True}, set(), NO_CHANGE, id="noise, of a twin as well"),
        pytest.param((1.3, 1.3), {"change": failing_baseline}, set(), NO_CHANGE, id="a baseline that failed"),
        pytest.param(
            (1.0, 1.0, 1.01), {"change": slowed(dict.fromkeys(LABELS, 1.5), rate=True)}, {("gunicorn", "")}, "itself",
            id="the whole machine, so the baseline alone",
        ),
    ],
)  # fmt: skip
def test_what_is_no_change_of_a_setup_is_not_marked_as_one(days, factors, options, changed, says):
    found = history_of("first-look", days(*STEADY, *factors, **options))
    assert {(one.series.label, one.series.against) for one in found.changes} == changed
    assert says in printed(found)
    assert (SHORT in str(spec(found)["title"])) is (says is SHORT)
    assert {series.label for series in found.series} == set(LABELS)


def test_runs_of_other_machines_and_studies_are_left_out(days, build_run):
    folder = days(1.0, 1.0)
    build_run(labels=LABELS, name="other-study", study={"name": "another"})
    machine = {"cpu": "Another CPU", "cores": 64, "memory_mb": 1}
    build_run(labels=LABELS, name="other-machine", record=on("2026-10-01", machine=machine))
    (folder / "broken").mkdir()
    (folder / "broken" / "run.json").write_text("{}")
    found = history_of("first-look", folder)
    assert len(found.runs) == 2
    assert "1 run on other machines" in found.left_out
    assert any("schema None" in sentence for sentence in found.left_out)
    with pytest.raises(UserError, match=r"another has one run on this machine \(.* left out\); a history needs two"):
        history_of("another", folder)


def test_a_test_that_asks_something_else_begins_a_new_series(days, build_run):
    folder = days(1.0, 1.0)
    build_run(labels=LABELS, name="third", record=on("2026-11-03"))
    tests = (known_test("latency").at_rate(500.0), "throughput")
    build_run(labels=LABELS, blocks=6, name="newest", tests=tests, record=on("2026-12-01"))
    lengths = {(series.label, series.metric): len(series.marks) for series in history_of("first-look", folder).series}
    assert lengths["gunicorn", "p50_ms"] == 1
    assert lengths["gunicorn", "rps"] == 4


def test_a_study_without_a_run_is_answered_with_those_that_have_some(days, tmp_path):
    with pytest.raises(UserError, match=r"there is no run of a study '2016' in .*; there are runs of: none"):
        history_of("2016", tmp_path)
    with pytest.raises(UserError, match=r"a study 'first-loook' in .*; did you mean first-look\?"):
        history_of("first-loook", days(1.0, 1.0))


def test_several_runs_of_a_day_are_distinguished_by_their_time(days, build_run):
    folder = days(1.0)
    build_run(labels=LABELS, name="later", record={"created": "2026-11-01T19:45:00+00:00"})
    assert '"2026-11-01 19:45"' in str(spec(history_of("first-look", folder))).replace("'", '"')


def test_two_runs_of_one_block_have_no_whiskers_and_no_marks(build_run, tmp_path):
    for day in ("2026-11-01", "2026-11-03"):
        build_run(labels=LABELS, blocks=1, name=day, record=on(day))
    found = history_of("first-look", tmp_path)
    assert found.changes == []
    assert history_output.write(found, tmp_path / "chart").is_file()


AROUND = (1.0, 1.01, 0.99, 1.0, 1.005, 0.995)
THREE_LEVELS = [level * times for level in (100, 150, 200) for times in AROUND]
WAITING = [100, 101, 99, 100, 101, 99, 300]


def points(values, width=0.02):
    return [
        Point(f"run {number}", value, value / (1 + width), value * (1 + width)) for number, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("values", "width", "marked"),
    [
        pytest.param([], 0.02, {}, id="no run"),
        pytest.param([100, 101, 99, 100, 120, 120, 119, 120], 0.02, {4: 1.2}, id="a step, at its first run"),
        pytest.param([100, 101, 99, 100, 120, 130, 121, 122], 0.02, {4: 1.25}, id="as large as two runs say"),
        # What differs from day to day cannot be distinguished from a change by so few.
        *(pytest.param([100, 101, 99, 50, 51, 49][:runs], 0.02, {}, id=f"{runs} runs") for runs in range(2, 7)),
        pytest.param([100, 101, 99, 50, 51, 49, 50], 0.02, {3: 0.5}, id="seven runs are enough"),
        pytest.param([100, 101, 99, 100, 300, 101, 99, 100], 0.02, {}, id="one run alone"),
        pytest.param([100, 101, 99, 100, 300, 30, 99, 100], 0.02, {}, id="two that disagree"),
        pytest.param(WAITING, 0.02, {}, id="the newest run waits for the next"),
        pytest.param([*WAITING, 300], 0.02, {6: 3.0}, id="which confirms it"),
        pytest.param(THREE_LEVELS, 0.02, {6: 1.51, 12: 1.34}, id="after a change the level is a new one"),
        pytest.param([100, 101, 150, 151, 149, 150, 151, 150], 0.02, {3: 1.49}, id="a level is of three runs"),
        pytest.param([100, 104, 98, 103, 120, 119, 121, 120], 0.2, {}, id="within the intervals"),
        pytest.param([100, 100, 100, 100, 102, 102, 102, 102], 0.001, {}, id="under delta"),
    ],
)
def test_a_change_is_marked_at_its_first_run_and_noise_is_not(values, width, marked):
    found = enumerate(changes(points(values, width)))
    assert {number: round(mark.change, 2) for number, mark in found if mark.change is not None} == marked


def test_only_runs_with_an_interval_count_as_runs():
    open_ended = Point("one block", 300.0, 0.0, inf)
    series = [*points([100, 101, 99]), open_ended, *points([50, 51, 52])]
    assert not any(mark.change for mark in changes(series))


def test_what_varies_between_runs_is_not_moved_by_one_change_or_one_far_run():
    noise = np.random.default_rng(1).normal(0, 0.02, 20)
    changed, far = noise.copy(), noise.copy()
    changed[10:] += 1.0
    far[5] += 1.0
    assert between_runs(changed) <= 2 * between_runs(noise)
    assert between_runs(far) <= 1.5 * between_runs(noise)


def test_a_slow_drift_counts_as_noise():
    drift = np.array([0.01 * abs(run % 8 - 4) for run in range(24)])
    assert between_runs(drift) > 2 * float(np.median(abs(np.diff(drift)))) / (0.6745 * 2**0.5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("runs", [10, 20])
@pytest.mark.exhaustive
def test_false_marks_are_rare_in_a_whole_chart(kind, runs):
    # 60 charts at a true rate of 5% give more than 12% once in two hundred times.
    assert simulate_history(kind, runs, histories=60, seed=7).false <= 0.12


@pytest.mark.slow
def test_a_tenth_is_found_where_runs_differ_by_a_percent():
    assert simulate_history("normal", 20, histories=60, seed=7).found[0.01] >= 0.9
