"""Test interleaved setups without a server."""

import itertools
import subprocess

import pytest

from loadtests.engines import EngineError
from loadtests.hosts import ConnectionLost
from loadtests.measure import interleaved
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Part
from loadtests.plan import study as studies
from loadtests.serve.serving import NotServing
from tests.fixtures.bench import a_block, measure_interleaved, reasons

TABLE = {
    "setups": ["gunicorn", "uvicorn", "daphne"],
    "blocks": 1,
    "tests": {
        "latency": {"rate": 100, "duration": "1200ms", "warmup": "500ms"},
        "throughput": {"duration": "1s", "warmup": "500ms"},
    },
}
LOST = "the connection to ssh://other was lost: it ended"


@pytest.fixture
def run(bench_of):
    """Return a function that runs a block on the fake bench and returns the trials by label and test.

    The function's arguments are changes to the study.
    """

    def run(**changes):
        bench, _, planned = a_block(bench_of, {**TABLE, **changes})
        trials = measure_interleaved(bench, planned)
        assert [trial.number for trial in trials] == [one.slot.number for one in planned]
        return {(trial.label, trial.test): trial for trial in trials}

    return run


def spoiled(trials):
    """Return the reasons why trials are invalid, by label and test. Valid trials are left out."""
    return {place: reasons(trial) for place, trial in trials.items() if not trial.valid}


def of_test(name, reason):
    return {(label, name): {reason} for label in TABLE["setups"]}


def rounds(slices):
    return [[origin for origin, _, _ in slices[i : i + 3]] for i in range(0, len(slices), 3)]


def test_every_second_round_is_mirrored(run, bench_of):
    spins = iter([0.1, 0.2, 0.1, 0.1])
    bench_of.host.calibrate = lambda core: next(spins)
    trials = run()
    assert {trial.status for trial in trials.values()} == {"ok"}
    assert sorted(setup for setup, _, _ in bench_of.server.served) == ["daphne", "gunicorn", "uvicorn"]
    latency, throughput = bench_of.engine.slices[:6], bench_of.engine.slices[6:]
    assert [seconds for _, _, seconds in latency] == [0.6] * 6
    assert [seconds for _, _, seconds in throughput] == [0.5] * 6
    assert all(settle > 0 for _, settle, _ in bench_of.engine.slices)
    for first, second in (rounds(latency), rounds(throughput)):
        assert len(set(first)) == 3  # each setup has a separate port
        assert second == first[::-1]
    # All setups receive requests at the same random moments.
    open_loops = [load for load in bench_of.engine.loads if load.rate]
    assert len({load.origin for load in open_loops}) == 3
    assert len({load.arrival_seed for load in open_loops}) == 1
    # The machine's speed is measured once before each round.
    assert {trials[label, "latency"].evidence.calibration_s for label in TABLE["setups"]} == {(0.1, 0.2)}
    assert trials["gunicorn", "throughput"].evidence.calibration_s == (0.1, 0.1)


def test_other_hosts_are_checked_each_slice(run, bench_of):
    host = bench_of.host
    seconds = itertools.count(1.0)
    # Each observation is a second after the previous observation. Other programs used 0.2 s of CPU time.
    host.load_elsewhere = lambda: {"ssh://redis": OthersMoment(at := next(seconds), 0.1 * at, 0.1 * at, 0, 3000.0)}
    host.calibrations_elsewhere = lambda: {"ssh://redis": 0.12}
    trial = run()["uvicorn", "latency"]
    [seen] = trial.evidence.other_hosts
    assert (seen.machine, seen.generates, seen.other_load) == ("ssh://redis", False, 0.2)
    assert seen.frequency_change == 0.0
    assert seen.calibration_s == (0.12,) * len(trial.evidence.calibration_s)
    assert reasons(trial) == {"machine_disturbed"}
    assert trial.valid


def test_failed_start_invalidates_own_trials(run, bench_of):
    serve = bench_of.serve

    def refusing(setup, env, services, port):
        if setup.name == "uvicorn":
            raise NotServing("was not healthy", "its log")
        return serve(setup, env, services, port)

    bench_of.serve = refusing
    trials = run()
    assert spoiled(trials) == {("uvicorn", test): {"server_did_not_start"} for test in TABLE["tests"]}
    assert trials["uvicorn", "latency"].log == "was not healthy\nits log"


@pytest.mark.parametrize("method", ["meanwhile", "prepare"])
def test_failed_generator_invalidates_whole_test(run, bench_of, method):
    works = getattr(bench_of.engine, method)

    def breaks(load):
        if load.rate is None and len(bench_of.engine.loads) > 3:  # one is ready
            raise EngineError("the load generator stopped: why")
        return works(load)

    setattr(bench_of.engine, method, breaks)
    assert spoiled(run()) == of_test("throughput", "engine_failed")


def test_lost_connection_invalidates_one_test(run, bench_of):
    def cut(parts, folder):
        if bench_of.engine.slices:
            bench_of.host.usage = usage
            raise ConnectionLost(LOST)
        return usage(parts, folder)

    usage = bench_of.host.usage
    bench_of.host.usage = cut
    trials = run()
    assert spoiled(trials) == of_test("latency", "connection_lost")
    assert {(trial.log, trial.result) for trial in trials.values() if not trial.valid} == {(LOST, None)}
    assert len(bench_of.server.served) == 6


def test_lost_worker_between_slices_is_noticed(run, bench_of):
    processes = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
    # From the second slice on, another process serves.
    bench_of.server.parts = lambda: [Part("web", processes[len(bench_of.engine.slices) > 0].pid)]
    try:
        trial = run(setups=["gunicorn"])["gunicorn", "latency"]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert trial.evidence.processes_died == 1
    assert reasons(trial) == {"process_died"}


def test_overloaded_setup_skips_remaining_slices(run, bench_of, monkeypatch):
    monkeypatch.setattr(interleaved, "OVERTIME_S", -10.0)  # so that every slice exceeds its time limit
    bench_of.server.calm = False
    assert spoiled(run()) == of_test("latency", "did_not_recover") | of_test("throughput", "did_not_recover")
    assert len(bench_of.engine.slices) == 6  # only the first slice of each setup and test


@pytest.mark.parametrize(
    ("answer_s", "settle_and_slice_s"),
    [(0.06, [(0.6, 1.2)] * 3 + [(0.6, 1.0)] * 3), (0.015, [(0.15, 0.6)] * 6 + [(0.15, 1.0)] * 3)],
)
def test_slow_setups_have_longer_slices(run, bench_of, monkeypatch, answer_s, settle_and_slice_s):
    monkeypatch.setattr(interleaved.health, "seconds_to_answer", lambda ask: answer_s)
    run()
    assert [(settle, seconds) for _, settle, seconds in bench_of.engine.slices] == settle_and_slice_s


def test_search_is_never_interleaved():
    tests = {
        **TABLE["tests"],
        "capacity": {"start_rate": 100, "max_rate": 400},
        "old": {"kind": "throughput", "duration": "2s", "engine": "loadtest"},
    }
    study = studies.parse({**TABLE, "tests": tests}, "s", "s.toml")
    assert [study.interleaved(test) for test in study.tests] == [True, True, False, False]
    apart = studies.parse({**TABLE, "tests": tests, "interleave": False}, "s", "s.toml")
    assert not any(apart.interleaved(test) for test in apart.tests)
