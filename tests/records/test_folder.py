import dataclasses
import json
import os

import pytest

from loadtests import files
from loadtests.errors import UserError
from loadtests.records import Trial
from loadtests.records.run import folder
from loadtests.records.run.folder import Run

TRIAL = Trial(
    number=1,
    block=1,
    label="gunicorn",
    setup="gunicorn",
    test="latency",
    attempt=1,
    started="2026-11-21T07:00:00+00:00",
    status="ok",
    cores={"servers": (0,), "generator": (1,)},
)


def test_a_run_folder_is_read_back_as_it_was_written(run, a_result):
    result = a_result(
        run.record.study.tests[0].load("http://127.0.0.1:1", run.record.study.tests[0].requests, (), None)
    )
    trial = dataclasses.replace(TRIAL, result=result)
    second = dataclasses.replace(trial, attempt=2)
    run.save_trial(second)
    run.save_trial(trial)
    again = Run.open(run.path)
    assert again.record == run.record
    assert again.trials() == [trial, second]


def test_nothing_is_half_written_when_writing_fails(tmp_path):
    file = tmp_path / "run.json"
    files.write_json(file, {"a": 1})
    with pytest.raises(TypeError):
        files.write_json(file, {"a": object()})
    assert json.loads(file.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_is_not_a_run_is_named(tmp_path):
    with pytest.raises(UserError, match=r"is not a run folder \(has no run\.json\)"):
        folder.Run.open(tmp_path)
    with pytest.raises(UserError, match="does not exist"):
        folder.Run.open(tmp_path / "nothing")
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(UserError, match="cannot be read"):
        folder.Run.open(tmp_path)
    (tmp_path / "run.json").write_text('{"schema": 99}')
    with pytest.raises(UserError, match="has schema 99; this version reads schema 5"):
        folder.Run.open(tmp_path)


def test_a_folder_that_may_not_be_read_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)  # root may read all
    with pytest.raises(UserError, match="cannot be read: Permission denied"):
        folder.Run.open(tmp_path)


def test_a_run_is_never_written_over_another(run):
    with pytest.raises(UserError, match="exists already"):
        Run.create(run.path, run.record)
