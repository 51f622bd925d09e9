"""A run folder may come from somebody else: whatever is in it, one line, or a report inside of it and nowhere else."""

import json
import os
import re
import zlib
from base64 import b64encode

import pytest

from loadtests.records.histogram import Histogram
from tests.fixtures.schemas import as_json, changed
from tests.fixtures.studies import a_test

UP = "a/../../../../escaped/PWN"


@pytest.fixture
def run(build_run):
    """The folder of a small run, one below the test's own."""
    return build_run(labels=("gunicorn", "uvicorn"), tests=("latency", "capacity"), blocks=1).path


@pytest.fixture
def refused(command, run):
    """A function: what is said when a report is asked for, which must be one line, and change nothing."""

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


def trial(run, number=1):
    return next((run / "trials").glob(f"{number:04d}-*.json"))


def bomb():
    """A histogram of a few kilobytes that would decode to a gigabyte."""
    whole = Histogram(3, 10**9, {0: 1}).encode()
    assert Histogram.decode(whole).total == 1
    squeezed = zlib.compress(b"\0" * 40 + b"\2" * 30_000_000, 9)
    return b64encode((0x1C849314).to_bytes(4, "big") + len(squeezed).to_bytes(4, "big") + squeezed).decode()


REPLAY = a_test("latency", pace="recorded", requests=[{"at": [0, 1]}]).record() | {"recorded": [[0.0, 1]]}
NO_NAME = "Expected `str` matching regex"


@pytest.mark.parametrize(
    ("path", "new", "says"),
    [
        (("schema",), 7, "has schema 7; this version reads schema 5"),
        (("schema",), True, "has schema True"),
        (("study", "tests", 0, "name"), UP, f"its study: {NO_NAME}"),
        (("study", "entries", 0, "label"), UP, f"its study: {NO_NAME}"),
        (("study", "entries", 0, "env"), {"A=1; rm": "x"}, NO_NAME),
        (("study", "name"), UP, f"its study: {NO_NAME}"),
        (("study", "entries"), [], "study.entries: at least one is needed"),
        (("study", "entries", 0, "label"), "uvicorn", "study.entries: one occurs twice"),
        (("study", "tests"), [], "study.tests: at least one is needed"),
        (("study", "tests", 0, "rate"), 1e300, "Expected `float` <= "),
        (("study", "tests", 0, "requests"), [], "its study: latency: "),
        (("study", "tests", 0), as_json(REPLAY), "recorded: a request that is not there"),
        (("study", "tests", 1, "objective"), "fast", "objective: 'fast' is not a limit"),
        (("study", "tests", 0, "kind"), "guess", "its study: unknown kind of test 'guess'"),
        (("study", "baseline"), "iis", "study.baseline: 'iis' is not among gunicorn, uvicorn"),
        (("setups",), {}, "setups: "),
        (("order", 0, "label"), "iis", "order: labels: 'iis' is not among gunicorn, uvicorn"),
        (("order", 0, "number"), 2, "order: numbers: one occurs twice"),
        (("created",), "today", NO_NAME),
        (("git", "revision"), "HEAD; rm -rf /", NO_NAME),
        (("knobs",), {"A B": "1"}, NO_NAME),
        (("machine",), {"a": [[[[[[[[[[[[1]]]]]]]]]]]]}, "it is nested more than 12 deep"),
        (("machine",), {"memory_mb": "much"}, "machine.memory_mb is not a number"),
        (("machine",), {"cores": 2**200}, "it holds a number of 201 bits"),
        (("versions",), {"packages": ["Django"]}, "versions.packages are not versions by names"),
        (("study",), ..., "does not describe a run: it lacks 'study'"),
    ],
)
def test_what_describes_no_run_is_refused(run, refused, path, new, says):
    rewrite(run / "run.json", path, new)
    said = refused()
    assert "run.json" in said
    assert says in said


@pytest.mark.parametrize(
    ("path", "new", "says"),
    [
        (("schema",), 7, "has schema 7; this version reads schema 5"),
        (("label",), UP, NO_NAME),
        (("test",), UP, NO_NAME),
        (("label",), "iis", "number 1, iis in latency in block 1, is not in the run's order"),
        (("number",), 99, "is not in the run's order"),
        (("attempt",), 2, "under another name"),
        (("result", "rate"), 1e300, "Expected `float` <= "),
        (("result", "sent"), 10**30, "Expected `int`"),
        (("result", "latency_of"), "guess", NO_NAME),
        (("result", "response_time_ms", "p99"), ..., "Expected `object` of length >= 7"),
        (("result", "histograms"), {"failed": "!"}, "result.histograms.failed: not an HDR histogram"),
        (("result", "histograms"), {"failed": "AAAA"}, "result.histograms.failed: not an HDR histogram"),
        (("processes", 0, "role"), "x\x1b", NO_NAME),
        (("flags",), [{"reason": "a b", "severity": "invalid", "sentence": ""}], NO_NAME),
        (("flags",), [{"reason": "a", "severity": "odd", "sentence": ""}], NO_NAME),
    ],
)
def test_what_is_no_trial_of_the_run_is_refused(run, refused, path, new, says):
    rewrite(trial(run), path, new)
    said = refused()
    assert "0001-gunicorn-latency.json" in said
    assert says in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"schema":5,"study":{"tests":[1]}}', "does not describe a run"),
        ("[]", "Expected `object`, got `array`"),
        ('{"a":NaN}', "JSON is malformed"),
        ('{"a":1e999}', "Number out of range"),
        ('{"a":' * 100_000, "it is nested too deeply"),
    ],
)
def test_what_is_no_run_at_all_is_refused(run, refused, text, says):
    (run / "run.json").write_text(text)
    assert says in refused()


@pytest.mark.parametrize("file", ["run.json", "trials/0001-gunicorn-latency.json"])
def test_a_file_of_gigabytes_is_not_read_and_a_pipe_not_waited_for(run, refused, file):
    with (run / file).open("r+b") as vast:
        vast.truncate(10**12)
    assert "cannot be read: it is larger than 100 MB" in refused()
    (run / file).unlink()
    os.mkfifo(run / file)
    assert "cannot be read: it is not a regular file" in refused()


def test_a_histogram_is_not_blown_up(run):
    with pytest.raises(ValueError, match="not an HDR histogram"):
        Histogram.decode(bomb())


def test_a_trial_under_another_name_is_refused(run, refused):
    trial(run).rename(run / "trials" / "0001-other.json")
    assert "0001-other.json is not a trial: it is 0001-gunicorn-latency, under another name" in refused()


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
def test_a_link_out_of_the_folder_is_refused(run, refused, tmp_path, inside, target):
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
    assert f"{inside} is a symbolic link that leads out of the run folder; take it away" in refused()


def test_the_folder_itself_may_be_a_link(command, run, tmp_path):
    (tmp_path / "link").symlink_to(run)
    code, _, errors = command("report", tmp_path / "link", "--rebuild")
    assert (code, errors) == (0, "")
    assert (run / "report.html").is_file()


@pytest.mark.parametrize(
    ("blocked", "cannot"), [("charts", "write"), ("index.rst", "write"), ("charts/old.svg", "remove")]
)
def test_what_cannot_be_written_or_removed_is_named(command, run, blocked, cannot):
    if blocked == "charts":
        (run / blocked).write_text("a file")
    else:
        (run / blocked).mkdir(parents=True)
    code, printed, errors = command("report", run, "--rebuild")
    assert (code, printed, errors.count("\n")) == (1, "", 1)
    assert re.search(f"cannot {cannot} .*{blocked}", errors)


def test_the_list_names_what_cannot_be_read(command, run, monkeypatch):
    monkeypatch.setattr("loadtests.files.RESULTS", run.parent)
    rewrite(run / "run.json", ("study", "tests", 0, "name"), UP)
    code, printed, errors = command("list", "runs")
    assert (code, errors) == (0, "")
    assert "cannot be read: " in printed
