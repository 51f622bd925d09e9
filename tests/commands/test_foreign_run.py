"""Test that ``report`` handles untrusted run folders: it prints a one-line error or writes only inside the folder."""

import json
import os
import re
import zlib
from base64 import b64encode
from pathlib import Path

import pytest

from loadtests.records.histogram import Histogram
from tests.fixtures.schemas import as_json, changed
from tests.fixtures.studies import a_test

UP = "a/../../../../escaped/PWN"


@pytest.fixture
def run(build_run):
    """Return the folder of a small run, which is inside the test's temporary folder."""
    return build_run(labels=("gunicorn", "uvicorn"), tests=("latency", "capacity"), blocks=1).path


@pytest.fixture
def refused(command, run):
    """Return a function that runs ``report``, requires that it only prints a one-line error, and returns the error."""

    def report():
        before = tree(run.parent)
        code, printed, errors = command("report", run)
        assert (code, printed) == (1, "")
        assert errors.count("\n") == 1
        assert len(errors) < 1000
        assert tree(run.parent) == before
        return errors

    return report


def tree(folder):
    return {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}


def rewrite(file, path, new):
    file.write_text(json.dumps(changed(json.loads(file.read_text()), path, new)))


RUN, TRIAL = "run.json", "trials/0001-gunicorn-latency.json"
REPLAY = a_test("latency", pace="recorded", requests=[{"at": [0, 1]}]).record() | {"recorded": [[0.0, 1]]}
NO_NAME = "Expected `str` matching regex"


@pytest.mark.parametrize(
    ("file", "path", "new", "says"),
    [
        (RUN, ("schema",), 7, "has schema 7. This version reads schema 5"),
        (RUN, ("schema",), True, "has schema True"),
        (RUN, ("study", "tests", 0, "name"), UP, f"its study: {NO_NAME}"),
        (RUN, ("study", "entries", 0, "label"), UP, f"its study: {NO_NAME}"),
        (RUN, ("study", "entries", 0, "env"), {"A=1; rm": "x"}, NO_NAME),
        (RUN, ("study", "name"), UP, f"its study: {NO_NAME}"),
        (RUN, ("study", "entries"), [], "study.entries: must not be empty"),
        (RUN, ("study", "entries", 0, "label"), "uvicorn", "study.entries: a value occurs twice"),
        (RUN, ("study", "tests"), [], "study.tests: must not be empty"),
        (RUN, ("study", "tests", 0, "rate"), 1e300, "Expected `float` <= "),
        (RUN, ("study", "tests", 0, "requests"), [], "its study: latency: "),
        (RUN, ("study", "tests", 0), as_json(REPLAY), "recorded: refers to a request that doesn't exist"),
        (RUN, ("study", "tests", 1, "objective"), "fast", "objective: 'fast' is not a limit"),
        (RUN, ("study", "tests", 0, "kind"), "guess", "its study: unknown kind of test 'guess'"),
        (RUN, ("study", "baseline"), "iis", "study.baseline: 'iis' is not among gunicorn, uvicorn"),
        (RUN, ("setups",), {}, "setups: "),
        (RUN, ("order", 0, "label"), "iis", "order: labels: 'iis' is not among gunicorn, uvicorn"),
        (RUN, ("order", 0, "number"), 2, "order: numbers: a value occurs twice"),
        (RUN, ("git", "revision"), "HEAD; rm -rf /", NO_NAME),
        (RUN, ("knobs",), {"A B": "1"}, NO_NAME),
        (RUN, ("machine",), {"a": [[[[[[[[[[[[1]]]]]]]]]]]]}, "values are nested more than 12 levels deep"),
        (RUN, ("machine",), {"memory_mb": "much"}, "machine.memory_mb is not a number"),
        (RUN, ("machine",), {"cores": 2**200}, "it contains a number with 201 bits"),
        (RUN, ("versions",), {"packages": ["Django"]}, "versions.packages must contain a version for each name"),
        (RUN, ("study",), ..., "does not describe a run: it lacks 'study'"),
        (RUN, ("study", "tests"), [1], "does not describe a run"),
        (TRIAL, ("schema",), 7, "has schema 7. This version reads schema 5"),
        (TRIAL, ("label",), UP, NO_NAME),
        (TRIAL, ("test",), UP, NO_NAME),
        (TRIAL, ("label",), "iis", "number 1, iis in latency in block 1, isn't in the run's order"),
        (TRIAL, ("number",), 99, "isn't in the run's order"),
        (TRIAL, ("attempt",), 2, "doesn't match the file's name"),
        (TRIAL, ("result", "rate"), 1e300, "Expected `float` <= "),
        (TRIAL, ("result", "sent"), 10**30, "Expected `int`"),
        (TRIAL, ("result", "latency_of"), "guess", NO_NAME),
        (TRIAL, ("result", "response_time_ms", "p99"), ..., "Expected `object` of length >= 7"),
        (TRIAL, ("result", "histograms"), {"failed": "!"}, "result.histograms.failed: not an HDR histogram"),
        (TRIAL, ("processes", 0, "role"), "x\x1b", NO_NAME),
        (TRIAL, ("flags",), [{"reason": "a b", "severity": "invalid", "sentence": ""}], NO_NAME),
        (TRIAL, ("flags",), [{"reason": "a", "severity": "odd", "sentence": ""}], NO_NAME),
    ],
)
def test_invalid_record_is_refused(run, refused, file, path, new, says):
    rewrite(run / file, path, new)
    said = refused()
    assert Path(file).name in said
    assert says in said


@pytest.mark.parametrize("file", [RUN, TRIAL])
def test_huge_file_or_pipe_is_refused(run, refused, file):
    with (run / file).open("r+b") as vast:
        vast.truncate(10**12)
    assert "cannot be read: it is larger than 100 MB" in refused()
    (run / file).unlink()
    os.mkfifo(run / file)
    assert "cannot be read: it is not a regular file" in refused()


def test_compression_bomb_is_refused():
    squeezed = zlib.compress(b"\0" * 40 + b"\2" * 30_000_000, 9)
    bomb = (0x1C849314).to_bytes(4, "big") + len(squeezed).to_bytes(4, "big") + squeezed
    with pytest.raises(ValueError, match="not an HDR histogram"):
        Histogram.decode(b64encode(bomb).decode())
    assert Histogram.decode(Histogram(3, 10**9, {0: 1}).encode()).total == 1


WRITTEN = ("charts", "trials", "run.json", "index.rst", "report.html", "summary.csv", "charts/latency-latency.svg")


@pytest.mark.parametrize(
    ("inside", "target"),
    [
        *((inside, "outside") for inside in WRITTEN),
        ("run.json", "nowhere"),
        ("charts", "nowhere"),
        ("trials", "itself"),
    ],
)
def test_link_outside_the_folder_is_refused(run, refused, tmp_path, inside, target):
    outside = tmp_path / "outside"
    if inside in ("charts", "trials"):
        outside.mkdir()
    else:
        outside.write_text("mine")
    link = run / inside
    link.parent.mkdir(exist_ok=True)
    if link.exists():
        link.rename(tmp_path / "moved")
    link.symlink_to({"outside": outside, "nowhere": tmp_path / "nowhere", "itself": link}[target])
    assert f"{inside} is a symbolic link to a place outside the run folder. Remove it" in refused()


def test_run_folder_may_be_a_link(command, run, tmp_path):
    (tmp_path / "link").symlink_to(run)
    code, _, errors = command("report", tmp_path / "link", "--rebuild")
    assert (code, errors) == (0, "")
    assert (run / "report.html").is_file()


@pytest.mark.parametrize(
    ("blocked", "cannot"), [("charts", "write"), ("index.rst", "write"), ("charts/old.svg", "remove")]
)
def test_unwritable_file_error_names_file(command, run, blocked, cannot):
    if blocked == "charts":
        (run / blocked).touch()
    else:
        (run / blocked).mkdir(parents=True)
    code, printed, errors = command("report", run, "--rebuild")
    assert (code, printed, errors.count("\n")) == (1, "", 1)
    assert re.search(f"cannot {cannot} .*{blocked}", errors)


def test_list_shows_unreadable_runs(command, run, monkeypatch):
    monkeypatch.setattr("loadtests.files.RESULTS", run.parent)
    rewrite(run / "run.json", ("study", "tests", 0, "name"), UP)
    code, printed, errors = command("list", "runs")
    assert (code, errors) == (0, "")
    assert "cannot be read: " in printed
