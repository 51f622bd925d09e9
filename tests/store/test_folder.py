import dataclasses
import json

import pytest

from loadtests import store
from loadtests.errors import UserError

TRIAL = store.Trial(
    number=1,
    block=1,
    label="gunicorn",
    setup="gunicorn",
    test="latency",
    attempt=1,
    started="2026-11-21T07:00:00+00:00",
    status="ok",
    flags=[],
    result={"rate": 300.0},
    processes=[],
    cores={"servers": [0], "generator": [1]},
)


def test_a_run_folder_is_read_back_as_it_was_written(tmp_path):
    run = store.Run.create(tmp_path / "r", {"name": "first-look"})
    second = dataclasses.replace(TRIAL, attempt=2)
    run.save_trial(second)
    run.save_trial(TRIAL)
    again = store.Run.open(tmp_path / "r")
    assert again.about["name"] == "first-look"
    assert again.trials() == [TRIAL, second]


def test_nothing_is_half_written_when_writing_fails(tmp_path):
    file = tmp_path / "run.json"
    store.write_json(file, {"a": 1})
    with pytest.raises(TypeError):
        store.write_json(file, {"a": object()})
    assert json.loads(file.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_is_not_a_run_is_named(tmp_path):
    with pytest.raises(UserError, match=r"is not a run folder \(has no run\.json\)"):
        store.Run.open(tmp_path)
    with pytest.raises(UserError, match="does not exist"):
        store.Run.open(tmp_path / "nothing")
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(UserError, match="cannot be read"):
        store.Run.open(tmp_path)
    (tmp_path / "run.json").write_text('{"schema": 99}')
    with pytest.raises(UserError, match="has schema 99; this version reads schema 1"):
        store.Run.open(tmp_path)


def test_a_run_is_never_written_over_another(tmp_path):
    store.Run.create(tmp_path / "r", {})
    with pytest.raises(UserError, match="exists already"):
        store.Run.create(tmp_path / "r", {})


def test_a_trial_that_cannot_be_read_is_named(tmp_path):
    run = store.Run.create(tmp_path / "r", {})
    (run.path / "trials" / "0001-x.json").write_text('{"schema": 1}')
    with pytest.raises(UserError, match=r"0001-x.json is not a trial"):
        run.trials()
