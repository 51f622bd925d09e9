"""Test resumed runs. The conditions and knobs must be the same, and the run folder contains no secrets."""

import dataclasses
import json
import os
import sys

import pytest

from loadtests import setups
from loadtests.analyse.outcome import imprecision
from loadtests.errors import UserError
from loadtests.measure import run as runs
from loadtests.measure.prepare import resume
from loadtests.plan import study as studies
from loadtests.records.run.folder import Run
from loadtests.records.run.run_record import Expectation, OwnProject
from loadtests.report import reports
from loadtests.setups import other_stacks
from tests.fixtures.bench import FakeTrials, SilentWatcher

TABLE = {
    "setups": ["gunicorn", "uvicorn"],
    "blocks": 1,
    "interleave": False,
    "tests": {"latency": {"rate": 50, "duration": "1s"}},
}
POST = {**TABLE["tests"]["latency"], "method": "POST", "path": "/echo", "body_file": "body.txt"}
JOURNEY = {"users": 1, "duration": "1s", "journey": "mine.py"}
REDIS = [
    "redis://:hunter2@127.0.0.1:6379/0",
    "unix:///run/redis.sock?db=1&password=hunter2",
    "rediss://me:hun@ter2@h/1",
]
KEPT = ["redis://REPLACED@127.0.0.1:6379/0", "unix:///run/redis.sock?db=1&password=REPLACED", "rediss://REPLACED@h/1"]
SECRET = "a secret of the user"
PROJECT = OwnProject(
    options={"app": "/srv/shop"},
    remarks=(),
    python="3.11.2",
    django="5.2.19",
    debug=False,
    wsgi=None,
    asgi=None,
    middleware=7,
    packages={},
)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Unset environment variables, and restore them after a test or a resumed run has set them."""
    for name in (*setups.KNOBS, "DATABASE_URL"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.fixture
def begun(prepare, monkeypatch):
    """Return a function that prepares a run with these environment variables, without measurements."""

    def begin(table=TABLE, **variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return prepare(table).run

    return begin


def texts(folder):
    return {file.name: file.read_text(encoding="utf-8") for file in folder.rglob("*") if file.is_file()}


def test_resumed_run_keeps_its_settings(begun, bench_of, monkeypatch):
    run = begun(WORKERS="3", PORT="8123")
    contract = {"latency": (Expectation(201, "text/html", None),)}
    run.update(contract=contract)
    monkeypatch.setenv("WORKERS", "8")
    monkeypatch.setenv("THREADS", "16")
    monkeypatch.delenv("PORT")
    execution = resume(run.path, bench_of)
    assert (os.environ["WORKERS"], os.environ.get("THREADS"), execution.bench.port) == ("3", None, 8123)
    assert Run.open(run.path).record.knobs == {"WORKERS": "3", "PORT": "8123"}
    assert (execution.order, execution.bench.contract) == (run.record.order, contract)


@pytest.mark.parametrize(
    ("known", "stacks", "edited", "changed"),
    [
        ({"versions": {"packages": {"Django": "1.8"}}}, {}, "", "packages"),
        ({}, {"stack_2016": {"Django": "1.11"}}, "", "packages"),
        ({"machine": {"cpu": "Another CPU"}, "versions": {"packages": {}}}, {}, "", "machine and the packages"),
        ({}, {}, "; another line", "setups' files"),
    ],
)
def test_changed_environment_is_refused(begun, bench_of, monkeypatch, known, stacks, edited, changed):
    run = begun()
    uvicorn = run.record.setups["uvicorn"]
    run.update(setups={**run.record.setups, "uvicorn": dataclasses.replace(uvicorn, config=uvicorn.config + edited)})
    bench_of.host.known |= known
    monkeypatch.setattr(other_stacks, "versions", lambda names: stacks)
    with pytest.raises(UserError, match=f"the {changed} changed since the run started. Start a new run"):
        resume(run.path, bench_of)


@pytest.mark.parametrize(
    ("tests", "file", "now", "why"),
    [
        ({"journey": JOURNEY}, "mine.py", "# edited", "the journeys' files changed since the run started. Start a new"),
        ({"latency": POST}, "body.txt", SECRET.upper(), r"body_file: .*body.txt has changed since the start of"),
        ({"latency": POST}, "body.txt", None, r"body_file: .*body.txt cannot be read: No such file or directory$"),
    ],
    ids=["a journey", "another body", "no body"],
)
def test_changed_study_file_is_refused(begun, bench_of, tmp_path, tests, file, now, why):
    (tmp_path / file).write_text("#" if file == "mine.py" else SECRET)
    run = begun({**TABLE, "tests": tests})
    resume(run.path, bench_of)
    (tmp_path / file).write_text(now) if now else (tmp_path / file).unlink()
    with pytest.raises(UserError, match=f"run: {why}"):
        resume(run.path, bench_of)
    assert bench_of.engine.loads == []


def test_body_from_file_is_not_stored(begun, bench_of, tmp_path):
    (tmp_path / "body.txt").write_text(SECRET)
    folder = begun({**TABLE, "tests": {"latency": POST}}).path
    runs.execute(resume(folder, bench_of), SilentWatcher(), imprecision)
    assert [load.requests[0].body for load in bench_of.engine.loads] == [SECRET.encode()] * 2
    reports.write(Run.open(folder))
    assert {"run.json", "report.html", "index.rst"} <= texts(folder).keys()
    assert [name for name, text in texts(folder).items() if SECRET in text] == []
    [request] = Run.open(folder).record.study.tests[0].requests
    assert (request.body, request.body_file.size) == (None, len(SECRET))


@pytest.mark.parametrize(("url", "kept"), list(zip(REDIS, KEPT, strict=True)))
def test_resumed_run_uses_environments_password(begun, bench_of, monkeypatch, url, kept):
    monkeypatch.setattr(
        sys, "argv", ["loadtests", "run", "--setup-command", "load postgres://me:hunter2@h/x", "--clients=ssh://a@h"]
    )
    folder = begun(REDIS_URL=url, DATABASE_URL="postgresql://me:hun/ter2@h/x", WORKERS="2").path
    execution = FakeTrials().instead(resume(folder, bench_of))
    assert os.environ["REDIS_URL"] == url
    runs.execute(execution, SilentWatcher(), imprecision)
    assert [name for name, text in texts(folder).items() if "hunter2" in text or "ter2" in text] == []
    record = json.loads(texts(folder)["run.json"])
    assert record["knobs"] == {"REDIS_URL": kept, "WORKERS": "2"}
    assert record["database"] == "postgresql://h/x"
    assert record["command"].endswith("'load postgres://REPLACED@h/x' --clients=ssh://a@h")


@pytest.mark.parametrize("now", [None, "redis://:hunter2@elsewhere/0"])
def test_missing_password_prevents_resume(begun, bench_of, monkeypatch, now):
    folder = begun(REDIS_URL=REDIS[0]).path
    monkeypatch.setenv("REDIS_URL", now) if now else monkeypatch.delenv("REDIS_URL")
    with pytest.raises(UserError, match=f"REDIS_URL was {KEPT[0]}, but run folders contain no secrets. Set REDIS_URL"):
        resume(folder, bench_of)


def test_stored_log_has_no_password(begun, bench_of):
    folder = begun().path
    bench_of.server.status = 500
    bench_of.server.logs = lambda: f"cannot connect to '{REDIS[0]}'"
    runs.execute(resume(folder, bench_of), SilentWatcher(), imprecision)
    assert {f"cannot connect to '{KEPT[0]}'" in one.log for one in Run.open(folder).trials()} == {True}


def test_study_refuses_passwords():
    entry = {"setup": "gunicorn", "env": {"BROKER": REDIS[0]}}
    says = r"setups\[1\].env.BROKER: contains a user name or a password. Set it in the"
    with pytest.raises(UserError, match=says) as error:
        studies.parse({**TABLE, "setups": [entry]}, "s", "s.toml")
    assert "hunter2" not in str(error.value)


def test_secret_headers_are_not_kept(begun, bench_of):
    sent = {**TABLE["tests"]["latency"], "headers": {"Cookie": "sessionid=hunter2", "Accept": "text/html"}}
    run = begun({**TABLE, "tests": {"latency": sent}})
    run.update(application=PROJECT)
    assert [name for name, text in texts(run.path).items() if "hunter2" in text] == []
    [request] = Run.open(run.path).record.study.tests[0].requests
    assert request.headers == (("Cookie", "REPLACED"), ("Accept", "text/html"))
    with pytest.raises(
        UserError, match=r"some requests contain secret headers \(Cookie\), which run folders don't store"
    ):
        resume(run.path, bench_of)
