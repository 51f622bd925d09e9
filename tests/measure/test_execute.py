"""The order of trials, repeats, resuming and adding blocks, with trials that no server has to run for."""

import dataclasses
import random

import pytest

from loadtests import store
from loadtests.errors import UserError
from loadtests.measure import run as runs
from loadtests.measure.run import Goal
from loadtests.plan import study as studies

TABLE = {
    "setups": ["gunicorn", "uvicorn"],
    "blocks": 2,
    "tests": {"throughput": {"duration": "1s"}},
}


class Watcher:
    def started(self, slot, attempt, trials):
        pass

    def second(self, row):
        pass

    def ended(self, trial, again):
        pass


class Trials:
    """Stands for loadtests.trial.run_trial: remembers what was asked, and answers with rates of its own."""

    def __init__(self):
        self.ran = []
        self.invalid = set()
        self.interrupt_at = None
        self.noise = random.Random(1)
        self.spread = 0.0
        self.reason = "send_lag"

    def __call__(self, bench, slot, entry, test, attempt, on_second):
        if self.interrupt_at == len(self.ran):
            raise KeyboardInterrupt
        self.ran.append((slot.number, slot.label, attempt))
        rate = {"gunicorn": 1000.0, "uvicorn": 500.0}[slot.label] * (1 + self.noise.uniform(-1, 1) * self.spread)
        invalid = (slot.number, attempt) in self.invalid
        return store.Trial(
            number=slot.number,
            block=slot.block,
            label=slot.label,
            setup=entry.setup,
            test=test.name,
            attempt=attempt,
            started="",
            status="invalid" if invalid else "ok",
            flags=[{"reason": self.reason, "severity": "invalid", "sentence": ""}] if invalid else [],
            result={"rate": rate, "ok": 1000, "completed": 1000, "response_time_ms": {"p50": 1.0}},
            processes=[],
            cores={},
        )


@pytest.fixture
def trials(monkeypatch, free_port):
    fake = Trials()
    monkeypatch.setattr(runs, "run_trial", fake)
    monkeypatch.setattr(runs.preflight, "contract", lambda bench, study: {})
    monkeypatch.setattr(runs.Application, "prepare", lambda application: None)
    monkeypatch.setenv("PORT", str(free_port))
    return fake


def prepare(folder, goal=None):
    return runs.prepare(studies.parse(TABLE, "s", "s.toml"), folder / "run", seed=1, goal=goal)


def test_every_place_in_the_order_is_run_once(trials, tmp_path):
    execution = prepare(tmp_path)
    assert runs.execute(execution, Watcher())
    assert [number for number, _, _ in trials.ran] == [1, 2, 3, 4]
    labels = [label for _, label, _ in trials.ran]
    assert labels[2:] == labels[:2][::-1]
    assert "ended" in store.Run.open(tmp_path / "run").about


def test_an_invalid_trial_is_repeated_once_and_the_run_goes_on(trials, tmp_path):
    trials.invalid = {(2, 1), (3, 1), (3, 2)}
    assert runs.execute(prepare(tmp_path), Watcher())
    assert [(number, attempt) for number, _, attempt in trials.ran] == [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1)]


def test_a_setup_without_a_valid_trial_fails_the_run(trials, tmp_path):
    order = prepare(tmp_path).order
    trials.invalid = {(slot.number, attempt) for slot in order if slot.label == "uvicorn" for attempt in (1, 2)}
    assert not runs.execute(runs.resume(tmp_path / "run"), Watcher())


def test_a_setup_that_failed_fails_the_run_even_where_its_other_blocks_are_valid(trials, tmp_path):
    trials.invalid = {(2, 1), (2, 2)}
    trials.reason = "server_did_not_start"
    assert not runs.execute(prepare(tmp_path), Watcher())


def test_a_run_that_was_interrupted_goes_on_where_it_was_with_the_same_schedule(trials, tmp_path):
    whole = [slot.label for slot in prepare(tmp_path).order]
    trials.interrupt_at = 2
    with pytest.raises(KeyboardInterrupt):
        runs.execute(runs.resume(tmp_path / "run"), Watcher())
    before = store.Run.open(tmp_path / "run").trials()
    assert "ended" not in store.Run.open(tmp_path / "run").about
    trials.interrupt_at = None
    assert runs.execute(runs.resume(tmp_path / "run"), Watcher())
    after = store.Run.open(tmp_path / "run").trials()
    assert after[:2] == before
    assert [trial.label for trial in after] == whole
    assert [number for number, _, _ in trials.ran] == [1, 2, 3, 4]


def test_blocks_are_added_in_pairs_until_the_interval_is_narrow(trials, tmp_path):
    trials.spread = 0.02
    runs.execute(prepare(tmp_path, Goal(until=0.03, max_time_s=60)), Watcher())
    about = store.Run.open(tmp_path / "run").about
    study = studies.from_dict(about["study"])
    assert study.blocks >= 4
    assert study.blocks % 2 == 0
    assert len(trials.ran) == len(about["order"]) == 2 * study.blocks
    assert runs._widest(store.Run.open(tmp_path / "run")) <= 0.03


def test_no_block_is_added_once_the_time_is_over(trials, tmp_path):
    trials.spread = 0.5
    runs.execute(prepare(tmp_path, Goal(until=0.001, max_time_s=0.0)), Watcher())
    assert len(trials.ran) == 4


def test_adding_blocks_leaves_the_order_so_far_as_it_was(trials, tmp_path):
    execution = prepare(tmp_path)
    before = execution.run.about["order"]
    runs._add_blocks(execution.run)
    assert execution.run.about["order"][: len(before)] == before
    assert len(execution.run.about["order"]) == 2 * len(before)


def test_a_twin_of_the_baseline_is_added_once():
    study = studies.parse(TABLE, "s", "s.toml").with_twin()
    assert [entry.label for entry in study.entries] == ["gunicorn", "uvicorn", "gunicorn-again"]
    assert study.with_twin() == study
    assert studies.from_dict(study.to_dict()) == study
    assert dataclasses.replace(study, blocks=4).blocks == 4


def test_what_this_machine_lacks_leaves_a_setup_out_with_the_reason(trials, monkeypatch, tmp_path):
    monkeypatch.setattr(
        runs.Application, "obstacle", lambda application, setup: "is not there" if setup.name == "uvicorn" else None
    )
    execution = prepare(tmp_path)
    assert runs.execute(execution, Watcher())
    assert {label for _, label, _ in trials.ran} == {"gunicorn"}
    assert store.Run.open(tmp_path / "run").about["skipped"] == {"uvicorn": "is not there"}
    assert "skipped: uvicorn: is not there" in execution.headline


def test_without_its_baseline_a_study_is_not_begun(trials, monkeypatch, tmp_path):
    monkeypatch.setattr(runs.Application, "obstacle", lambda application, setup: "is not there")
    with pytest.raises(UserError, match="baseline, gunicorn, cannot be served: is not there"):
        prepare(tmp_path)
    assert not (tmp_path / "run").exists()


def test_a_folder_that_exists_is_refused_before_anything_is_started(trials, monkeypatch, tmp_path):
    (tmp_path / "run").mkdir()
    monkeypatch.setattr(runs.preflight, "contract", lambda bench, study: pytest.fail("was started"))
    with pytest.raises(UserError, match="exists already"):
        prepare(tmp_path)


def test_an_ended_run_that_goes_on_is_no_longer_ended(trials, tmp_path):
    runs.execute(prepare(tmp_path), Watcher())
    file = next((tmp_path / "run" / "trials").glob("*.json"))
    file.unlink()
    trials.interrupt_at = len(trials.ran)
    with pytest.raises(KeyboardInterrupt):
        runs.execute(runs.resume(tmp_path / "run"), Watcher())
    assert "ended" not in store.Run.open(tmp_path / "run").about


def test_a_quick_study_has_short_trials_and_one_pair_of_blocks():
    table = {**TABLE, "blocks": 6, "tests": {"throughput": {"duration": "20s", "warmup": "500ms"}}}
    quick = studies.parse(table, "s", "s.toml").quick()
    [test] = quick.tests
    assert (quick.name, quick.blocks, test.duration_s, test.warmup_s) == ("s-quick", 2, 3.0, 0.5)
    assert studies.parse(TABLE, "s", "s.toml").quick().tests[0].duration_s == 1.0


def test_max_time_without_until_is_a_mistake():
    with pytest.raises(UserError, match="--until"):
        runs.goal_of(None, "1h")
