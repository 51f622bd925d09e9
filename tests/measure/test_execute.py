"""The order of trials, repeats, resuming and adding blocks, with trials that no server has to run for."""

import dataclasses
import random
import time
from pathlib import Path

import pytest

from loadtests.analyse.results import Results
from loadtests.errors import UserError
from loadtests.measure import prepare as preparing
from loadtests.measure import run as runs
from loadtests.measure import study_options
from loadtests.plan import study as studies
from loadtests.records import Flag, Trial
from loadtests.records.run.folder import Run
from loadtests.records.run.run_record import Goal
from tests.fixtures.bench import SilentWatcher

TABLE = {
    "setups": ["gunicorn", "uvicorn"],
    "blocks": 2,
    "tests": {"throughput": {"duration": "1s"}},
}
RATES = {"gunicorn": 1000.0, "uvicorn": 500.0, "daphne": 400.0}


class Trials:
    """Stands for run_trial and run_interleaved: remembers what was asked, and answers with rates of its own."""

    def __init__(self, a_result):
        self.a_result = a_result
        self.ran = []
        self.invalid = set()
        self.interrupt_at = None
        self.noise = random.Random(1)
        self.spread = 0.0
        self.reason = "send_lag"
        self.takes_s = 0.0

    def interleaved(self, bench, places, doing):
        for place in places:
            yield [self(bench, place, None)]

    def __call__(self, bench, place, on_second):
        slot, entry, test, attempt = place.slot, place.entry, place.test, place.attempt
        if self.interrupt_at == len(self.ran):
            raise KeyboardInterrupt
        self.ran.append((slot.number, slot.label, attempt))
        time.sleep(self.takes_s)
        rate = RATES[slot.label] * (1 + self.noise.uniform(-1, 1) * self.spread)
        invalid = (slot.number, attempt) in self.invalid
        return Trial(
            number=slot.number,
            block=slot.block,
            label=slot.label,
            setup=entry.setup,
            test=test.name,
            attempt=attempt,
            started="",
            status="invalid" if invalid else "ok",
            flags=(Flag(self.reason, "invalid", ""),) if invalid else (),
            result=self.a_result(bench.load(test, bench.url), rate=rate),
        )


@pytest.fixture
def trials(a_result):
    return Trials(a_result)


@pytest.fixture
def begin(tmp_path, bench_of, trials):
    """Makes the run folder of the study; a function, as what cannot be prepared is tested as well."""

    def prepare(goal=None, table=TABLE):
        study = studies.parse(table, "s", "s.toml")
        made = preparing.prepare(study, preparing.RunOptions(tmp_path / "run", 1, goal), bench_of)
        return dataclasses.replace(made, trial=trials, interleaved=trials.interleaved)

    return prepare


@pytest.fixture
def go_on(tmp_path, bench_of, trials):
    return lambda: dataclasses.replace(
        preparing.resume(tmp_path / "run", bench_of), trial=trials, interleaved=trials.interleaved
    )


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "run"


def test_every_place_in_the_order_is_run_once(begin, go_on, trials, folder):
    execution = begin()
    assert runs.execute(execution, SilentWatcher())
    assert [number for number, _, _ in trials.ran] == [1, 2, 3, 4]
    labels = [label for _, label, _ in trials.ran]
    assert labels[2:] == labels[:2][::-1]
    assert Run.open(folder).record.ended


def test_setups_that_memory_does_not_hold_at_once_are_measured_in_groups(begin, bench_of, trials, folder):
    each_mb = sum(one.rss_mb for one in bench_of.host.usage(bench_of.server.parts(), folder).values())
    bench_of.host.free_mb = int(each_mb * 5)  # half of it is for the baseline and one beside it
    execution = begin(table={**TABLE, "setups": ["gunicorn", "uvicorn", "daphne"]})
    assert "note: 2 setups run at once, gunicorn among them in each block" in execution.headline
    assert runs.execute(execution, SilentWatcher())
    blocks = {}
    for trial in Run.open(folder).trials():
        blocks.setdefault(trial.block, set()).add(trial.label)
    assert sorted(map(sorted, blocks.values())) == [["daphne", "gunicorn"]] * 2 + [["gunicorn", "uvicorn"]] * 2


@pytest.mark.parametrize("interleave", [True, False])
def test_an_invalid_trial_is_repeated_once_and_the_run_goes_on(begin, trials, interleave):
    trials.invalid = {(2, 1), (3, 1), (3, 2)}
    assert runs.execute(begin(table={**TABLE, "interleave": interleave}), SilentWatcher())
    # What is invalid in a block is repeated when the rest of it has been measured.
    assert [(number, attempt) for number, _, attempt in trials.ran] == [(1, 1), (2, 1), (2, 2), (3, 1), (4, 1), (3, 2)]


def test_a_setup_without_a_valid_trial_fails_the_run(begin, go_on, trials, folder):
    order = begin().order
    trials.invalid = {(slot.number, attempt) for slot in order if slot.label == "uvicorn" for attempt in (1, 2)}
    assert not runs.execute(go_on(), SilentWatcher())


def test_a_setup_that_failed_fails_the_run_even_where_its_other_blocks_are_valid(begin, go_on, trials, folder):
    trials.invalid = {(2, 1), (2, 2)}
    trials.reason = "server_did_not_start"
    assert not runs.execute(begin(), SilentWatcher())


def test_a_run_that_was_interrupted_goes_on_where_it_was_with_the_same_schedule(begin, go_on, trials, folder):
    whole = [slot.label for slot in begin().order]
    trials.interrupt_at = 2
    with pytest.raises(KeyboardInterrupt):
        runs.execute(go_on(), SilentWatcher())
    before = Run.open(folder).trials()
    assert Run.open(folder).record.ended is None
    trials.interrupt_at = None
    assert runs.execute(go_on(), SilentWatcher())
    after = Run.open(folder).trials()
    assert after[:2] == before
    assert [trial.label for trial in after] == whole
    assert [number for number, _, _ in trials.ran] == [1, 2, 3, 4]


def test_blocks_are_added_in_pairs_until_the_interval_is_narrow(begin, go_on, trials, folder):
    trials.spread = 0.02
    runs.execute(begin(Goal(until=0.03, max_time_s=60)), SilentWatcher())
    record = Run.open(folder).record
    assert record.study.blocks >= 8  # few blocks are alike by chance
    assert record.study.blocks % 2 == 0
    assert len(trials.ran) == len(record.order) == 2 * record.study.blocks


def test_what_was_looked_at_is_judged_at_a_stricter_level(begin, folder, trials):
    trials.spread = 0.02
    runs.execute(begin(Goal(until=0.03, max_time_s=60)), SilentWatcher())
    run = Run.open(folder)
    [looked] = Results(run).comparisons.values()
    run.update(goal=None)
    [usual] = Results(run).comparisons.values()
    assert looked.low < usual.low < usual.high < looked.high


def test_no_block_is_added_once_the_time_is_over(begin, go_on, trials, folder):
    trials.spread = 0.5
    runs.execute(begin(Goal(until=0.001, max_time_s=0.0)), SilentWatcher())
    assert len(trials.ran) == 4


def test_adding_blocks_leaves_the_order_so_far_as_it_was(begin, go_on, trials, folder):
    trials.spread = 0.5
    execution = begin(Goal(until=0.3, max_time_s=60))
    before = execution.order
    runs.execute(execution, SilentWatcher())
    assert len(execution.order) > len(before)
    assert execution.order[: len(before)] == before


def test_the_time_that_trials_take_is_counted_and_ends_the_adding_of_blocks(begin, go_on, trials, folder):
    trials.spread, trials.takes_s = 0.5, 0.02
    runs.execute(begin(Goal(until=0.001, max_time_s=0.01)), SilentWatcher())
    record = Run.open(folder).record
    assert len(trials.ran) == 4  # the planned ones take longer than that, so none is added
    assert record.measured_s >= 0.08


def test_the_time_for_adding_blocks_goes_on_where_a_run_was_interrupted(begin, go_on, trials, folder):
    trials.spread = 0.5
    execution = begin(Goal(until=0.001, max_time_s=10.0))
    execution.run.update(measured_s=20.0)
    runs.execute(go_on(), SilentWatcher())
    assert len(trials.ran) == 4


def test_a_twin_of_the_baseline_is_added_once():
    study = studies.parse(TABLE, "s", "s.toml").with_copy()
    assert [entry.label for entry in study.entries] == ["gunicorn", "uvicorn", "gunicorn-again"]
    assert study.with_copy() == study
    assert studies.from_dict(study.to_dict()) == study
    assert dataclasses.replace(study, blocks=4).blocks == 4


def test_what_cannot_be_served_is_left_out_with_the_reason(begin, bench_of, trials, folder):
    bench_of.application = dataclasses.replace(bench_of.application, asgi=None)
    execution = begin()
    assert runs.execute(execution, SilentWatcher())
    assert {label for _, label, _ in trials.ran} == {"gunicorn"}
    [left_out] = Run.open(folder).record.left_out
    assert (left_out.label, left_out.test) == ("uvicorn", None)
    assert "skipped: uvicorn: the project has no ASGI application" in execution.headline


def test_what_a_setup_cannot_do_is_left_out_of_that_test_only(begin, trials, folder):
    tests = {"throughput": {"duration": "1s"}, "async": {"kind": "throughput", "duration": "1s", "path": "/async/"}}
    execution = begin(table={**TABLE, "setups": ["gunicorn", "gunicorn-gevent"], "tests": tests})
    places = {(slot.label, slot.test) for slot in execution.order}
    assert ("gunicorn-gevent", "throughput") in places
    assert ("gunicorn-gevent", "async") not in places
    [left_out] = Run.open(folder).record.left_out
    assert (left_out.label, left_out.test) == ("gunicorn-gevent", "async")
    assert left_out.why.startswith("it cannot run asynchronous views")
    assert [slot.number for slot in execution.order] == list(range(1, len(execution.order) + 1))


def test_without_its_baseline_a_study_is_not_begun(begin, bench_of, trials, folder):
    bench_of.application = dataclasses.replace(bench_of.application, wsgi=None)
    with pytest.raises(UserError, match="baseline, gunicorn, cannot be served: the project has no WSGI application"):
        begin()
    assert not folder.exists()


def test_a_folder_that_exists_is_refused_before_anything_is_started(begin, bench_of, trials, folder):
    folder.mkdir()
    with pytest.raises(UserError, match="exists already"):
        begin()
    assert bench_of.server.served == []


def test_the_baseline_sets_the_contract(begin, bench_of, trials, folder):
    execution = begin(table={**TABLE, "baseline": "uvicorn"})
    assert [setup for setup, _, _ in bench_of.server.served] == ["uvicorn"]
    [expected] = execution.run.record.contract["throughput"]
    assert (expected.status, expected.content_type) == (200, "text/plain")


def test_an_engine_that_cannot_make_the_load_is_refused_before_anything_is_started(begin, bench_of, folder):
    bench_of.engine.features = frozenset()
    with pytest.raises(UserError, match="test throughput: the engine openloop cannot send as fast as it is answered"):
        begin()
    assert not folder.exists()


def test_an_ended_run_that_goes_on_is_no_longer_ended(begin, go_on, trials, folder):
    runs.execute(begin(), SilentWatcher())
    file = next((Path(folder) / "trials").glob("*.json"))
    file.unlink()
    trials.interrupt_at = len(trials.ran)
    with pytest.raises(KeyboardInterrupt):
        runs.execute(go_on(), SilentWatcher())
    assert Run.open(folder).record.ended is None


def test_a_quick_study_has_short_trials_and_one_pair_of_blocks():
    table = {**TABLE, "blocks": 6, "tests": {"throughput": {"duration": "20s", "warmup": "500ms"}}}
    quick = studies.parse(table, "s", "s.toml").quick()
    [test] = quick.tests
    assert (quick.name, quick.blocks, test.duration_s, test.warmup_s) == ("s-quick", 2, 3.0, 0.5)
    assert studies.parse(TABLE, "s", "s.toml").quick().tests[0].duration_s == 1.0


def test_max_time_without_until_is_a_mistake():
    with pytest.raises(UserError, match="--until"):
        study_options.goal_of(None, "1h")
