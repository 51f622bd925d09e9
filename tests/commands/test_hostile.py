"""Test commands with generated input: each command either succeeds or prints a one-line error.

A traceback, a hang, a file outside of the output folder or a remaining process is a failure.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loadtests.files import STUDIES
from loadtests.records import decode
from tests.fixtures.hostile import changed, toml, words
from tests.fixtures.studies import FULL, SMALL

MAX_CPU_S = 5  # limit for a command, in CPU time because a busy machine increases the elapsed time
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "5"))  # set the variable to thousands for a thorough test
HOW = {
    "database": None,
    "deadline": None,
    "derandomize": EXAMPLES < 1000,
    "suppress_health_check": list(HealthCheck),
}
pytestmark = pytest.mark.slow
few, some = settings(max_examples=max(1, EXAMPLES // 5), **HOW), settings(max_examples=EXAMPLES, **HOW)

ENTRY = {
    "startedDateTime": "2026-11-21T07:30:00.000Z",
    "request": {
        "method": "POST",
        "url": "http://127.0.0.1:8000/echo?token=secret",
        "headers": [{"name": "Content-Type", "value": "application/json"}],
        "postData": {"mimeType": "application/json", "text": '{"a": 1}'},
    },
    "response": {"status": 200, "headers": []},
}
PAGE = {**ENTRY, "request": {"method": "GET", "url": "http://127.0.0.1:8000/", "headers": []}}
HAR = {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [ENTRY, PAGE]}}
STEPS = {
    "schema_name": "test",
    "requests": [
        {"method": "GET", "url": "/a/", "redirect_route": "/b/{id}/"},
        {"method": "POST", "url": "/b/{id}/", "data": {"c": ["d", 1]}},
    ],
}
LINE = '127.0.0.1 - - [21/Nov/2026:07:30:00 +0000] "GET /x?a=1 HTTP/1.1" 200 12 "-" "curl/8"'
WORKLOAD = {
    "requests": [
        {"name": "front", "weight": 3, "path": "/"},
        {"path": "/echo", "method": "POST", "headers": {"X": "y"}, "body": "{}", "status": 200},
        {"path": "/upload", "method": "PUT", "body_file": "below/body"},
    ]
}
RECIPE = [
    {
        "route": "/news*",
        "body": "a<<1kb>>",
        "headers": {"connection": "keepalive", "X-A": "b"},
        "limit": 5,
        "stages": [{"at": 0, "latency": "1ms..2ms"}, {"at": "1s", "failures": 0.5, "failure_status": 503}],
    },
    {"random_content": "1kb", "stages": [{"at": 0, "latency": {"lognormal": {"median": "1ms", "p99": "2ms"}}}]},
]
PLAYED = """setups = ["uvicorn"]
[tests.latency]
rate = 10
duration = "1s"
services = ["origin"]
recipe = "below/recipe.json"
"""
FILES = {"played.toml": PLAYED, "below/body": b"\xff"}  # files that the generated files refer to
# A study with all options. Each test uses an engine that supports its load.
FITTING = {
    **FULL,
    "tests": {
        name: {**test, "engine": "locust" if "journey" in f"{name} {test.get('kind')}" else "openloop"}
        for name, test in FULL["tests"].items()
    },
}
LOAD = ["--rate", "--duration", "--connections", "--timeout", "--method", "--header", "--body", "--engine"]
RUN = [
    "--seed", "--blocks", "--setups", "--precision", "--max-time", "--path", "--workload", "--host-header",
    "--journey", "--login", "--login-user", "--login-accounts",
]  # fmt: skip


@pytest.fixture
def attempt(command, tmp_path, monkeypatch):
    """Return a function that writes files to an empty folder, runs a command in this folder and returns the exit code.

    The function fails if the command crashes, hangs, or leaves files or processes. ``files`` maps paths to contents.
    """
    folder = tmp_path / "outside" / "inside"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    # Only compare direct children, because shared servers of other tests may start and end processes.
    before = {process.pid for process in psutil.Process().children()}

    def too_long(number, frame):
        raise AssertionError(f"over {MAX_CPU_S} s of CPU time")

    def run(*arguments, **files):
        for left in folder.iterdir():
            left.unlink() if left.is_file() else shutil.rmtree(left)
        for name, content in {**FILES, **files}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
        previous = signal.signal(signal.SIGPROF, too_long)
        signal.setitimer(signal.ITIMER_PROF, MAX_CPU_S)
        try:
            code, printed, errors = command(*arguments)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, previous)
        said = printed + errors
        assert "Traceback" not in said
        assert not CONTROL.search(said), said
        if code == 1:
            assert errors.count("\n") == 1, errors
            assert errors.strip()
        assert code in (0, 1, 2), said
        assert [path.name for path in tmp_path.iterdir()] == ["outside"]
        assert [path.name for path in folder.parent.iterdir()] == ["inside"]
        assert {process.pid for process in psutil.Process().children()} <= before
        return code

    return run


# Each file name has a command that reads the file, and valid content for the file.
KINDS = {
    "a.toml": (("run", "a.toml", "--dry-run"), toml(FITTING)),
    "w.toml": (("run", "first-look", "--dry-run", "--workload", "w.toml"), toml(WORKLOAD)),
    "below/recipe.json": (("run", "played.toml", "--dry-run"), json.dumps(RECIPE)),
    "a.har": (("workload", "har", "a.har"), json.dumps(HAR)),
    "journey.har": (("workload", "journey", "journey.har"), json.dumps(HAR)),
    "steps.json": (("workload", "journey", "steps.json"), json.dumps(STEPS)),
    "access.log": (("workload", "log", "access.log"), LINE),
}
SHIPPED = [decode.read_toml(path) for path in sorted(STUDIES.glob("*.toml"))]


# Pairs of a file name and a strategy for the file's content.
CHANGED = [
    ("a.toml", st.sampled_from([SMALL, FITTING, *SHIPPED]).flatmap(changed).map(toml)),
    ("w.toml", changed(WORKLOAD).map(toml)),
    ("below/recipe.json", changed(RECIPE).map(json.dumps)),
    *((name, changed(HAR).map(json.dumps)) for name in ("a.har", "journey.har")),
    ("steps.json", changed(STEPS).map(json.dumps)),
    ("access.log", st.builds(lambda at, text: LINE[:at] + text + LINE[at:], st.integers(0, len(LINE)), words)),
]
RANDOM = [pytest.param(name, st.text() | st.binary(), marks=pytest.mark.exhaustive) for name in KINDS]


@pytest.mark.parametrize("name", KINDS)
def test_unchanged_files_are_valid(attempt, name):
    """Check that the unchanged files are valid. Otherwise, every changed file would cause the same error."""
    arguments, right = KINDS[name]
    assert attempt(*arguments, **{name: right}) == 0


@pytest.mark.parametrize(("name", "content"), [*CHANGED, *RANDOM])
@some
@given(data=st.data())
def test_changed_file_causes_no_crash(attempt, name, content, data):
    attempt(*KINDS[name][0], **{name: data.draw(content)})


@some
@given(options=st.lists(st.tuples(st.sampled_from(RUN), words), max_size=3))
def test_generated_run_options_cause_no_crash(attempt, options):
    given_ = [word.replace("\x00", "") for option in options for word in option]  # an argument can't contain NUL
    attempt("run", "first-look", "--dry-run", *given_)


@some
@given(url=words.map("http://192.0.2.1/".__add__) | words, option=st.sampled_from(LOAD), value=words)
def test_load_refuses_generated_options(attempt, url, option, value):
    assert attempt("load", url.replace("\x00", ""), option, value.replace("\x00", "")) != 0


@pytest.fixture
def a_run(run_builder, tmp_path_factory):
    """Return the contents of the JSON files of a small run by path."""
    folder = run_builder(tmp_path_factory.mktemp("run"))(labels=("gunicorn", "uvicorn"), tests=("latency",)).path
    found = [folder / "run.json", *sorted((folder / "trials").iterdir())]
    return {f"r/{file.relative_to(folder)}": json.loads(file.read_text()) for file in found}


@pytest.mark.parametrize(
    ("arguments", "examples"), [(("compare", "r", "--setups", "gunicorn,uvicorn"), some), (("report", "r"), few)]
)
def test_changed_run_folder_causes_no_crash(attempt, a_run, arguments, examples):
    """Change the record and the trials of a run folder."""

    @examples
    @given(data=st.data())
    def try_changed(data):
        attempt(*arguments, **{name: json.dumps(data.draw(changed(value))) for name, value in a_run.items()})

    try_changed()
