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
        (RUN, ("study", "tests", 0, "name"), UP, f"its study: {NO_NAME}"),
        (RUN, ("study", "entries", 0, "env"), {"A=1; rm": "x"}, NO_NAME),
        (RUN, ("study", "name"), UP, f"its study: {NO_NAME}"),
        (RUN, ("study", "entries"), [], "its study, its setups and its order contradict each other"),
        (RUN, ("study", "tests", 0, "requests"), [], "its study: requests: must contain at least one"),
        (RUN, ("study", "tests", 0), as_json(REPLAY), "recorded: refers to a request that doesn't exist"),
        (RUN, ("study", "tests", 0, "kind"), "guess", "its study: unknown kind of test 'guess'"),
        (RUN, ("study", "baseline"), "iis", "contradict each other"),
        (RUN, ("git", "revision"), "HEAD; rm -rf /", NO_NAME),
        (RUN, ("knobs",), {"A B": "1"}, NO_NAME),
        (RUN, ("study",), ..., "does not describe a run: it lacks 'study'"),
        (TRIAL, ("label",), UP, NO_NAME),
        (TRIAL, ("number",), 99, "isn't in the run's order"),
        (TRIAL, ("result", "rate"), 1e300, "Expected `float` <= "),
        (TRIAL, ("result", "histograms"), {"failed": "!"}, "result.histograms.failed: not an HDR histogram"),
        (TRIAL, ("processes", 0, "role"), "x\x1b", NO_NAME),
        (TRIAL, ("flags",), [{"reason": "a b", "severity": "invalid", "sentence": ""}], NO_NAME),
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


@pytest.mark.parametrize("inside", ["charts", "trials"])
def test_link_to_another_folder_is_refused(run, refused, tmp_path, inside):
    (tmp_path / "outside").mkdir()
    if (run / inside).exists():
        (run / inside).rename(tmp_path / "moved")
    (run / inside).symlink_to(tmp_path / "outside")
    assert f"{inside} is a symbolic link. Remove it" in refused()


@pytest.mark.exhaustive
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
