"""Test trials whose processes die, and searches, which send many loads. No server is started."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys

import psutil
import pytest

from loadtests.errors import UserError
from loadtests.hosts import ConnectionLost
from loadtests.observe.gauges import NUMBERS
from loadtests.observe.processes import Part, Usage
from loadtests.trials.reasons import is_setups_own, machines_own
from tests.fixtures.bench import a_block, measure, measure_interleaved, reasons
from tests.fixtures.waiting import wait_for

TABLE = {
    "setups": ["gunicorn"],
    "tests": {
        "throughput": {"duration": "1s"},
        "capacity": {"start_rate": 100, "max_rate": 400, "probe": "1s", "confirm": "1s"},
    },
}
# A server that forks a worker like Gunicorn. Supervisor sees only the parent.
FORKS = "import os, sys, time; child = os.fork(); child and print(child, flush=True); time.sleep(60)"


@pytest.fixture
def run(bench_of):
    """Return a function that runs a trial of a test on the fake bench."""
    bench, _, planned = a_block(bench_of, TABLE)
    by_test = {one.test.name: one for one in planned}
    return lambda name: measure(bench, by_test[name])


@pytest.fixture
def forking():
    process = subprocess.Popen([sys.executable, "-c", FORKS], stdout=subprocess.PIPE, text=True)
    worker = int(process.stdout.readline())
    yield process.pid, worker
    for pid in (worker, process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.stdout.close()
    process.wait()


@pytest.mark.parametrize(
    ("role", "killed", "died", "found"),
    [
        ("web", False, 0, set()),
        ("web", True, 1, {"process_died"}),
        ("origin", True, 0, {"service_failed"}),  # the setup isn't at fault
    ],
)
def test_lost_worker_makes_trial_invalid(run, bench_of, forking, role, killed, died, found):
    def kills(load):
        if killed:
            os.kill(forking[1], signal.SIGKILL)
            wait_for(lambda: psutil.Process(forking[1]).status() == psutil.STATUS_ZOMBIE)
        return {}

    server = Part(role, forking[0], charged=role == "web")
    bench_of.server.parts = lambda: [server] if role == "web" else [Part("web", os.getpid()), server]
    bench_of.engine.meanwhile = kills
    trial = run("throughput")
    assert (trial.evidence.processes_died, reasons(trial), trial.valid) == (died, found, not found)
    assert is_setups_own(trial.flags) == bool(died)
    if not found:
        assert {process.pid for process in trial.processes} == set(forking)
    elif died:
        assert trial.log == "the end of the log"


def test_lost_connection_is_the_machines_fault(run, bench_of):
    def cut(cores):
        raise ConnectionLost("the connection to ssh://other was lost: it ended")

    def broken(load):
        bench_of.host.moment = cut
        return {"errors": {"refused": 10}}

    bench_of.engine.meanwhile = broken
    trial = run("throughput")
    assert reasons(trial) == {"connection_lost"}
    assert {reason.name for reason in machines_own(trial.flags)} == {"connection_lost"}
    assert (trial.result, trial.processes) == (None, ())


def test_search_is_judged_by_all_probes(run, bench_of):
    # Only the first of many probes was disturbed. The undisturbed last probe doesn't make the trial valid.
    def first_is_disturbed(moment):
        after_the_first = len(bench_of.engine.loads) >= 1
        return dataclasses.replace(
            moment, wall_s=moment.wall_s - 3.0 * after_the_first, swapped_pages=7 * after_the_first
        )

    def first_has_a_wrong_body(load):
        return {"errors": {"wrong-body": 1}} if len(bench_of.engine.loads) == 1 else {}

    bench_of.host.moment_of = first_is_disturbed
    bench_of.engine.meanwhile = first_has_a_wrong_body
    trial = run("capacity")
    assert len(bench_of.engine.loads) >= 3
    found = trial.evidence
    assert (found.clock_jump_s, found.swapped_pages, found.contract_differences) == (-3.0, 7, 1)
    assert trial.status == "invalid"


def test_probes_have_different_schedules(run, bench_of):
    assert run("capacity").status == "ok"
    loads = list(bench_of.engine.loads)
    assert [load.warmup_s > 0 for load in loads] == [True] + [False] * (len(loads) - 1)
    seeds = [load.arrival_seed for load in loads]
    assert None not in seeds
    assert len(set(seeds)) == len(seeds)
    run("capacity")
    assert [load.arrival_seed for load in bench_of.engine.loads[len(loads) :]] == seeds


@pytest.mark.parametrize("way", [measure, lambda bench, planned: measure_interleaved(bench, [planned])[0]])
def test_contract_breach_prevents_the_load(bench_of, way):
    bench, _, planned = a_block(bench_of, TABLE)
    bench_of.server.status = 500
    trial = way(bench, next(one for one in planned if one.test.name == "throughput"))
    assert reasons(trial) == {"contract_broken"}
    assert "GET /: answered 500 text/plain b'OK', but the baseline answered 200 text/plain" in trial.log
    assert (bench_of.engine.loads, bench_of.engine.slices) == ([], [])


def test_cpu_time_covers_only_load(run, bench_of):
    used = [1.0]
    bench_of.host.usage = lambda parts, folder: {7: Usage("web", "server", 7, used[0], 30.0, 30.0, 0)}
    bench_of.engine.meanwhile = lambda load: used.append(used.pop() + 2.0) or {}
    bench_of.engine.closing = lambda: used.append(used.pop() + 100.0)  # the end of the load also uses CPU time
    [process] = run("throughput").processes
    assert process.cpu_s == 2.0


def test_services_start_with_the_setup(bench_of):
    options = {"services": ["origin"], "recipe": "stumble"}
    bench, study, [planned] = a_block(bench_of, {**TABLE, "tests": {"throughput": {"duration": "1s", **options}}})
    bench.require(study)
    measure(bench, planned)
    assert bench_of.server.served == [("gunicorn", {"ORIGIN_RECIPE": "stumble", "CORES": "0"}, ("origin",))]


def test_services_use_the_configured_cores(bench_of):
    """Also check that a nonexistent core is an error before the servers start."""
    setup = {"setup": "gunicorn", "label": "apart", "env": {"SERVICES_CORES": "generator"}}
    bench, study, planned = a_block(bench_of, {**TABLE, "setups": [setup], "baseline": "apart"})
    bench.require(study)
    trial = measure(bench, planned[0])
    core = bench.cores.generator[0]
    assert bench_of.server.served == [("gunicorn", {"CORES": "0", "SERVICES_CORES": str(core)}, ())]
    assert trial.cores["services"] == (core,)
    wrong = dataclasses.replace(study.entries[0], env={"SERVICES_CORES": "4999"})
    with pytest.raises(UserError, match="apart: SERVICES_CORES=4999: the allowed cores are "):
        bench.require(dataclasses.replace(study, entries=(wrong,)))


def test_remote_services_use_no_server_cores(run, bench_of):
    """If the CPU time of remote services counted for the servers' cores, it would hide other programs on the cores."""
    used, busy = [0.0], [0.0]
    bench_of.server.parts = lambda: [Part("web", 7), Part("redis", 8, elsewhere=True)]
    bench_of.host.usage = lambda parts, folder: {
        7: Usage("web", "server", 7, used[0], 30.0, 30.0, 0),
        8: Usage("redis", "redis-server", 8, used[0], 9.0, 9.0, 0),
    }
    bench_of.host.moment_of = lambda moment: dataclasses.replace(moment, cores_busy_s=busy[0])

    def works(load):
        used[0] += 0.2
        busy[0] += 0.4
        return {}

    bench_of.engine.meanwhile = works
    assert run("throughput").evidence.other_load > 0.0


def test_pool_gauges_are_recorded(run, bench_of, tmp_path):
    assert run("throughput").gauges == {}
    (tmp_path / f"pool-{os.getpid()}").write_bytes(NUMBERS.pack(3, 1))
    bench_of.server.folder = tmp_path
    gauges = run("throughput").gauges
    assert {name: shown[0] for name, shown in gauges.items()} == {"pool in use": (0.0, 3), "pool waiting": (0.0, 1)}
    assert run("capacity").gauges["pool in use"][0] == (0.0, 3)
