"""Users and passwords of URLs that a run is given reach no file of its folder; it goes on all the same."""

import json
import os
import sys

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.measure import prepare as preparing
from loadtests.measure import run as runs
from loadtests.plan import study as studies
from loadtests.records.run.folder import Run
from loadtests.setups.application import project
from tests.fixtures.bench import FakeTrials, SilentWatcher

TABLE = {"setups": ["gunicorn"], "blocks": 2, "tests": {"latency": {"rate": 50, "duration": "1s"}}}
REDIS = [
    "redis://:hunter2@127.0.0.1:6379/0",
    "unix:///run/redis.sock?db=1&password=hunter2",
    "rediss://me:hun@ter2@h/1",
]
KEPT = ["redis://REPLACED@127.0.0.1:6379/0", "unix:///run/redis.sock?db=1&password=REPLACED", "rediss://REPLACED@h/1"]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """What a test, or a run that goes on, sets does not outlive it."""
    for name in (*setups.KNOBS, "DATABASE_URL"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.fixture
def begun(tmp_path, bench_of, monkeypatch):
    """A function: begins a run in a folder under these variables."""

    def begin(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        folder = tmp_path / "run"
        preparing.prepare(studies.parse(TABLE, "s", "s.toml"), preparing.RunOptions(folder, 1), bench_of)
        return folder

    return begin


@pytest.mark.parametrize(("url", "kept"), list(zip(REDIS, KEPT, strict=True)))
def test_a_run_keeps_no_password_and_goes_on_with_that_of_the_environment(begun, bench_of, monkeypatch, url, kept):
    monkeypatch.setattr(
        sys, "argv", ["loadtests", "run", "--before", "load postgres://me:hunter2@h/x", "--clients=ssh://a@h"]
    )
    folder = begun(REDIS_URL=url, DATABASE_URL="postgresql://me:hun/ter2@h/x", WORKERS="2")
    execution = FakeTrials().instead(preparing.resume(folder, bench_of))
    assert os.environ["REDIS_URL"] == url
    runs.execute(execution, SilentWatcher())
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.rglob("*") if file.is_file()}
    assert [name for name, text in texts.items() if "hunter2" in text or "ter2" in text] == []
    record = json.loads(texts["run.json"])
    assert record["knobs"] == {"REDIS_URL": kept, "WORKERS": "2"}
    assert record["database"] == "postgresql://h/x"
    assert record["command"].endswith("'load postgres://REPLACED@h/x' --clients=ssh://a@h")


@pytest.mark.parametrize("now", [None, "redis://:hunter2@elsewhere/0", "redis://127.0.0.1:6379/0"])
def test_a_run_does_not_go_on_without_the_password(begun, bench_of, monkeypatch, now):
    folder = begun(REDIS_URL=REDIS[0])
    monkeypatch.setenv("REDIS_URL", now) if now else monkeypatch.delenv("REDIS_URL")
    with pytest.raises(UserError, match=f"REDIS_URL was {KEPT[0]}, whose secrets a run folder does not keep; set it"):
        preparing.resume(folder, bench_of)


def test_the_end_of_a_log_is_kept_without_it(begun, bench_of):
    folder = begun()
    bench_of.server.status = 500
    bench_of.server.logs = lambda: "cannot connect to 'redis://:hunter2@127.0.0.1:6379/0'"
    runs.execute(preparing.resume(folder, bench_of), SilentWatcher())
    assert {
        "cannot connect to 'redis://REPLACED@127.0.0.1:6379/0'" in one.log for one in Run.open(folder).trials()
    } == {True}


def test_a_dry_run_tells_none(command, monkeypatch):
    monkeypatch.setenv("REDIS_URL", REDIS[0])
    _, printed, errors = command("run", "first-look", "--dry-run")
    assert KEPT[0] in "".join(printed.split())
    assert "hunter2" not in printed + errors


@pytest.mark.parametrize("variable", ["REDIS_URL", "BROKER"])
def test_a_study_has_none(variable):
    entry = {"setup": "gunicorn", "env": {variable: "redis://:hunter2@127.0.0.1:6379/0"}}
    with pytest.raises(
        UserError, match=rf"setups\[1\].env.{variable}: has a user or a password; set it in the"
    ) as error:
        studies.parse({**TABLE, "setups": [entry]}, "s", "s.toml")
    assert "hunter2" not in str(error.value)


def test_what_is_run_before_is_kept_without_it(tmp_path):
    options = project.Options(tmp_path, before="load postgres://me:hunter2@h/x --all")
    assert options.to_dict()["before"] == "load postgres://REPLACED@h/x --all"
