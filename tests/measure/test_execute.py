"""Test the order, the repetition and the resuming of trials, and added blocks, without a server."""

import dataclasses
import random
import time

import pytest

from loadtests.analyse.outcome import RunOutcome, imprecision, outcome
from loadtests.analyse.results import Results
from loadtests.errors import UserError
from loadtests.measure import run as runs
from loadtests.measure.prepare import resume
from loadtests.plan import study as studies
from loadtests.records.run.folder import Run
from loadtests.records.run.run_record import Goal
from tests.fixtures.bench import FakeTrials, SilentWatcher

TABLE = {"setups": ["gunicorn", "uvicorn"], "blocks": 2, "tests": {"throughput": {"duration": "1s"}}}
RATES = {"gunicorn": 1000.0, "uvicorn": 500.0, "daphne": 400.0}


@pytest.fixture
def trials():
    """Simulate trials at different rates. ``invalid`` contains the number and attempt of each invalid trial."""
    trials = FakeTrials()
    noise = random.Random(1)
    trials.invalid, trials.why, trials.spread, trials.takes_s, trials.interrupt_at = set(), "send_lag", 0.0, 0.0, None

    def result(planned):
        return {"rate": RATES[planned.slot.label] * (1 + noise.uniform(-1, 1) * trials.spread)}

    def reason(planned):
        if trials.interrupt_at == len(trials.ran) - 1:
            trials.ran.pop()
            raise KeyboardInterrupt
        time.sleep(trials.takes_s)
        return trials.why if (planned.slot.number, planned.attempt) in trials.invalid else None

    trials.result, trials.reason = result, reason
    return trials


@pytest.fixture
def begin(prepare, trials):
    """Return a function that prepares a changed study and returns an execution with simulated trials."""
    return lambda goal=None, **changes: trials.instead(prepare({**TABLE, **changes}, goal))


@pytest.fixture
def go_on(folder, bench_of, trials):
    return lambda: trials.instead(resume(folder, bench_of))


def run(execution):
    """Run the trials, and return whether every setup has a valid trial in every test."""
    runs.execute(execution, SilentWatcher(), imprecision)
    return outcome(execution.run) is RunOutcome.VALID


def left_out(folder):
    return [(one.label, one.test, one.why) for one in Run.open(folder).record.left_out]


def test_every_slot_runs_once(begin, trials, folder):
    assert run(begin())
    assert [number for number, _ in trials.attempts] == [1, 2, 3, 4]
    labels = [one.slot.label for one in trials.ran]
    assert labels[2:] == labels[:2][::-1]
    assert Run.open(folder).record.ended


def test_limited_memory_prevents_interleaving(begin, bench_of, folder):
    each_mb = sum(one.rss_mb for one in bench_of.host.usage(bench_of.server.parts(), folder).values())
    bench_of.host.free_mb = int(each_mb * 5)  # half of the memory is enough for the baseline and one other setup
    assert not begin(setups=["gunicorn", "uvicorn", "daphne"]).study.interleave


@pytest.mark.parametrize("interleave", [True, False])
def test_invalid_trial_is_repeated_once(begin, trials, interleave):
    trials.invalid = {(2, 1), (3, 1), (3, 2)}
    assert run(begin(interleave=interleave))
    # An invalid trial is repeated at the end of its block.
    assert trials.attempts == [(1, 1), (2, 1), (2, 2), (3, 1), (4, 1), (3, 2)]


@pytest.mark.parametrize(("numbers", "why"), [((2, 3), "send_lag"), ((2,), "server_did_not_start")])
def test_failing_setup_fails_the_run(begin, trials, numbers, why):
    trials.invalid, trials.why = {(number, attempt) for number in numbers for attempt in (1, 2)}, why
    assert not run(begin())


def test_interrupted_run_resumes_its_schedule(begin, go_on, trials, folder):
    whole = [slot.label for slot in begin().order]
    trials.interrupt_at = 2
    with pytest.raises(KeyboardInterrupt):
        run(go_on())
    before = Run.open(folder).trials()
    assert Run.open(folder).record.ended is None
    trials.interrupt_at = None
    assert run(go_on())
    after = Run.open(folder).trials()
    assert after[:2] == before
    assert [trial.label for trial in after] == whole
    assert [number for number, _ in trials.attempts] == [1, 2, 3, 4]


def test_blocks_are_added_for_precision(begin, trials, folder):
    trials.spread = 0.02
    execution = begin(Goal(until=0.03, max_time_s=60))
    before = execution.order
    run(execution)
    kept = Run.open(folder)
    record = kept.record
    assert record.study.blocks >= 8  # because a few blocks can agree by chance
    assert record.study.blocks % 2 == 0
    assert len(trials.ran) == len(record.order) == 2 * record.study.blocks
    assert record.order[: len(before)] == before
    [looked] = Results(kept).comparisons.values()
    kept.update(goal=None)
    [usual] = Results(kept).comparisons.values()
    assert looked.low < usual.low < usual.high < looked.high


@pytest.mark.parametrize(
    ("max_time_s", "takes_s", "measured_s"), [(1e-6, 0.0, 0.0), (0.01, 0.02, 0.0), (10.0, 0.0, 20.0)]
)
def test_no_block_follows_the_time_limit(begin, go_on, trials, folder, max_time_s, takes_s, measured_s):
    """The time before an interruption also counts towards the limit."""
    trials.spread, trials.takes_s = 0.5, takes_s
    begin(Goal(until=0.001, max_time_s=max_time_s)).run.update(measured_s=measured_s)
    run(go_on())
    assert len(trials.ran) == 4
    assert Run.open(folder).record.measured_s >= measured_s + 4 * takes_s


def test_unavailable_setup_is_omitted(begin, bench_of, trials, folder):
    bench_of.application = dataclasses.replace(bench_of.application, asgi=None)
    execution = begin()
    assert run(execution)
    assert {one.slot.label for one in trials.ran} == {"gunicorn"}
    [(label, test, why)] = left_out(folder)
    assert (label, test) == ("uvicorn", None)
    assert why.startswith("the project has no ASGI application")
    assert f"skipped: uvicorn: {why}" in execution.headline


@pytest.mark.parametrize(
    ("setups", "test", "why"),
    [
        (["gunicorn", "gunicorn-gevent"], {"path": "/async/"}, "it cannot run asynchronous views"),
        (["granian-asgi", "gunicorn-gthread"], {"protocol": "http2"}, "it cannot answer HTTP/2 without TLS"),
    ],
)
def test_unsupported_test_is_omitted(begin, folder, setups, test, why):
    tests = {name: {"kind": "latency", "rate": 10, "duration": "1s"} for name in ("can", "cannot")}
    execution = begin(setups=setups, tests={**tests, "cannot": {**tests["cannot"], **test}})
    label = execution.study.entries[1].label
    [(left_out_label, left_out_test, left_out_why)] = left_out(folder)
    assert (left_out_label, left_out_test) == (label, "cannot")
    assert left_out_why.startswith(why)
    places = {(slot.label, slot.test) for slot in execution.order}
    assert (label, "can") in places
    assert (label, "cannot") not in places
    assert [slot.number for slot in execution.order] == list(range(1, len(execution.order) + 1))


def test_refused_run_writes_nothing(begin, bench_of, folder):
    complete, features = bench_of.application, bench_of.engine.features
    bench_of.application = dataclasses.replace(complete, wsgi=None)
    with pytest.raises(UserError, match="baseline, gunicorn, can't be served: the project has no WSGI application"):
        begin()
    bench_of.application, bench_of.engine.features = complete, frozenset()
    with pytest.raises(UserError, match="test throughput: the engine openloop cannot send in a closed loop"):
        begin()
    assert not folder.exists()
    folder.mkdir()
    bench_of.engine.features = features
    with pytest.raises(UserError, match="already exists"):
        begin()
    assert bench_of.server.served == []


def test_quick_study_has_short_trials():
    table = {**TABLE, "blocks": 6, "tests": {"throughput": {"duration": "20s", "warmup": "500ms"}}}
    quick = studies.parse(table, "s", "s.toml").quick()
    [test] = quick.tests
    assert (quick.name, quick.blocks, test.pace.duration_s, test.warmup_s) == ("s-quick", 2, 3.0, 0.5)
    assert studies.parse(TABLE, "s", "s.toml").quick().tests[0].pace.duration_s == 1.0
