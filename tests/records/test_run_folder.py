"""Test run folders: values are the same after writing and reading, and invalid folders or values are refused."""

import json

import pytest

from loadtests import files
from loadtests.errors import UserError
from loadtests.records.run.folder import Run
from tests.fixtures.schemas import changed

# The trials of these runs have connections, journeys, gauges, deployments and stages of an origin.
RUNS = [
    f"reference-2026-11-{name}"
    for name in ("29-crowd", "23-users", "29-connections", "28-granian-reload", "26-stumble")
]


@pytest.mark.parametrize("name", RUNS)
def test_run_folder_is_restored(tmp_path, name):
    committed = Run.open(files.RESULTS / name)
    trials = committed.trials()[:3]
    run = Run.create(tmp_path / "r", committed.record)
    for trial in trials:
        run.save_trial(trial)
    again = Run.open(run.path)
    assert again.record == committed.record
    assert again.trials() == trials


@pytest.fixture
def run(tmp_path):
    """Return a run folder before the first trial."""
    return Run.create(tmp_path / "r", Run.open(files.RESULTS / RUNS[0]).record)


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("status",), "doubtful"),
        (("result", "rate"), -1),
        (("result", "errors", "unlucky"), 1),
        (("result", "response_time_ms", "p42"), 1.0),
        (("result", "timeline", 0, "t"), ...),
        (("result", "deliveries", "backlog"), [0.5]),
    ],
)
def test_invalid_trial_is_refused(run, path, new):
    [trial, *_] = Run.open(files.RESULTS / RUNS[0]).trials()
    run.save_trial(trial)
    file = run.path / "trials" / f"{trial.name}.json"
    file.write_text(json.dumps(changed(json.loads(file.read_text()), path, new)))
    with pytest.raises(UserError, match=rf"{trial.name}\.json is not a trial: ") as raised:
        run.trials()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, r"is not a run folder \(has no run\.json\)"),
        ("{", "cannot be read"),
        ('{"schema": 99}', "has schema 99. This version reads schema 5"),
    ],
)
def test_folder_without_run_is_refused(tmp_path, content, says):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(UserError, match=says):
        Run.open(tmp_path)


def test_failed_write_leaves_no_file(tmp_path):
    file = tmp_path / "run.json"
    files.write_json(file, {"a": 1})
    with pytest.raises(TypeError):
        files.write_json(file, {"a": object()})
    assert json.loads(file.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [file]


def test_run_never_overwrites_another_run(run):
    with pytest.raises(UserError, match="already exists"):
        Run.create(run.path, run.record)
