"""What a trial makes of processes that are gone, and of a search with many loads; no server is started."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys

import psutil
import pytest

from loadtests.analyse.reasons import is_setups_own, machines_own
from loadtests.errors import UserError
from loadtests.hosts import ConnectionLost
from loadtests.observe.gauges import NUMBERS
from loadtests.observe.processes import Part, Usage
from loadtests.records.result import NOTHING
from tests.fixtures.bench import a_block, measure, measure_interleaved, reasons
from tests.fixtures.waiting import wait_for

TABLE = {
    "setups": ["gunicorn"],
    "tests": {
        "throughput": {"duration": "1s"},
        "capacity": {"start_rate": 100, "max_rate": 400, "probe": "1s", "confirm": "1s"},
    },
}
# A server that forks a worker by itself, as Gunicorn does; supervisor knows of the parent only.
FORKS = "import os, sys, time; child = os.fork(); child and print(child, flush=True); time.sleep(60)"


@pytest.fixture
def run(bench_of):
    """Runs a trial of the test of that name on the fake bench."""
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


def wait_until_dead(pid):
    wait_for(lambda: psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    return {}


def test_a_worker_that_the_server_forked_and_lost_makes_the_trial_invalid(run, bench_of, forking):
    bench_of.server.pid, worker = forking

    bench_of.engine.meanwhile = lambda load: os.kill(worker, signal.SIGKILL) or wait_until_dead(worker)
    trial = run("throughput")
    assert trial.evidence.processes_died == 1
    assert trial.status == "invalid"
    assert trial.log == "the end of the log"


def test_a_service_that_ends_is_not_the_setups_fault(run, bench_of, forking):
    service, worker = forking
    bench_of.server.parts = lambda: [Part("web", os.getpid()), Part("origin", service, charged=False)]
    bench_of.engine.meanwhile = lambda load: os.kill(worker, signal.SIGKILL) or wait_until_dead(worker)
    trial = run("throughput")
    assert trial.evidence.processes_died == 0
    assert reasons(trial) == {"service_failed"}
    assert not is_setups_own(trial.flags)


def test_a_worker_that_lives_on_is_not_counted_as_dead(run, bench_of, forking):
    bench_of.server.pid = forking[0]
    trial = run("throughput")
    assert trial.evidence.processes_died == 0
    assert (trial.status, reasons(trial)) == ("ok", set())
    assert {process.pid for process in trial.processes} == set(forking)


def test_a_connection_that_is_lost_is_the_machines_fault_and_says_nothing_of_the_setup(run, bench_of):
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


def test_a_search_is_judged_by_all_of_its_probes(run, bench_of):
    # Only the first of many probes was disturbed; that the last one was quiet does not make it good.
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
    assert trial.evidence.clock_jump_s == -3.0
    assert trial.evidence.swapped_pages == 7
    assert trial.evidence.contract_differences == 1
    assert trial.status == "invalid"


def test_a_probe_is_the_generators_where_it_is_late_by_more_than_half_of_the_limit(run, bench_of):
    def late_by(ms):
        return lambda load: {"pacing_lag_ms": {**NOTHING, "p50": 0.1, "p99": ms}}

    bench_of.engine.meanwhile = late_by(24.0)  # half of 50 ms is allowed
    assert run("capacity").capacity.limited_by != "generator"
    bench_of.engine.meanwhile = late_by(26.0)
    limited = run("capacity").capacity
    assert limited.limited_by == "generator"
    assert "p99 26.0 ms, under a limit of 50 ms" in limited.sentence + limited.probes[-1].why


def test_only_the_first_probe_warms_up(run, bench_of):
    assert run("capacity").status == "ok"
    first, *rest = bench_of.engine.loads
    assert first.warmup_s > 0
    assert {load.warmup_s for load in rest} == {0.0}


def test_each_probe_is_sent_at_other_moments_and_they_are_the_same_in_another_search(run, bench_of):
    run("capacity")
    first = [load.arrival_seed for load in bench_of.engine.loads]
    assert None not in first
    assert len(set(first)) == len(first)
    run("capacity")
    assert [load.arrival_seed for load in bench_of.engine.loads[len(first) :]] == first


def test_a_server_that_does_not_recover_from_a_probe_is_invalid(run, bench_of):
    bench_of.server.calm = False
    trial = run("capacity")
    assert trial.status == "invalid"
    assert "did not recover from a probe" in trial.log


@pytest.mark.parametrize("way", [measure, lambda bench, planned: measure_interleaved(bench, [planned])[0]])
def test_an_answer_that_breaks_the_contract_is_said_and_no_load_is_sent(bench_of, way):
    bench, _, planned = a_block(bench_of, TABLE)
    bench_of.server.status = 500
    trial = way(bench, next(one for one in planned if one.test.name == "throughput"))
    assert reasons(trial) == {"contract_broken"}
    assert "GET /: answered 500 text/plain b'OK'; the baseline answered 200 text/plain" in trial.log
    assert (bench_of.engine.loads, bench_of.engine.slices) == ([], [])


def test_what_is_done_before_and_after_the_load_costs_nothing(run, bench_of):
    used = [1.0]
    host, engine = bench_of.host, bench_of.engine
    host.usage = lambda parts, folder: {7: Usage("web", "server", 7, used[0], 30.0, 30.0, 0)}
    engine.meanwhile = lambda load: used.append(used.pop() + 2.0) or {}
    engine.closing = lambda: used.append(used.pop() + 100.0)  # what is under way at the end is worked off
    [process] = run("throughput").processes
    assert process.cpu_s == 2.0


@pytest.mark.parametrize(
    ("options", "env"),
    [({"services": ["redis"]}, {}), ({"services": ["origin"], "recipe": "stumble"}, {"ORIGIN_RECIPE": "stumble"})],
)
def test_the_services_of_a_test_are_started_with_the_setup(bench_of, options, env):
    bench, study, [planned] = a_block(bench_of, {**TABLE, "tests": {"throughput": {"duration": "1s", **options}}})
    bench.require(study)
    measure(bench, planned)
    assert bench_of.server.served == [("gunicorn", {**env, "CORES": "0"}, tuple(options["services"]))]


def test_services_run_where_a_setup_says(bench_of):
    """And a core that there is not is said before anything is started."""
    setup = {"setup": "gunicorn", "label": "apart", "env": {"SERVICES_CORES": "generator"}}
    bench, study, planned = a_block(bench_of, {**TABLE, "setups": [setup], "baseline": "apart"})
    bench.require(study)
    trial = measure(bench, planned[0])
    core = bench.cores.generator[0]
    assert bench_of.server.served == [("gunicorn", {"CORES": "0", "SERVICES_CORES": str(core)}, ())]
    assert trial.cores["services"] == (core,)
    wrong = dataclasses.replace(study.entries[0], env={"SERVICES_CORES": "4999"})
    with pytest.raises(UserError, match="apart: SERVICES_CORES=4999: this process may use the cores "):
        bench.require(dataclasses.replace(study, entries=(wrong,)))


def test_what_a_service_takes_elsewhere_is_nothing_of_the_servers_cores(run, bench_of):
    """So it hides nothing that another program takes of them."""
    host, engine = bench_of.host, bench_of.engine
    used, busy = [0.0], [0.0]
    bench_of.server.parts = lambda: [Part("web", 7), Part("redis", 8, elsewhere=True)]
    host.usage = lambda parts, folder: {
        7: Usage("web", "server", 7, used[0], 30.0, 30.0, 0),
        8: Usage("redis", "redis-server", 8, used[0], 9.0, 9.0, 0),
    }
    host.moment_of = lambda moment: dataclasses.replace(moment, cores_busy_s=busy[0])

    def works(load):
        used[0] += 0.2
        busy[0] += 0.4
        return {}

    engine.meanwhile = works
    assert run("throughput").evidence.other_load > 0.0


def test_what_the_pools_showed_meanwhile_is_kept(run, bench_of, tmp_path):
    (tmp_path / f"pool-{os.getpid()}").write_bytes(NUMBERS.pack(3, 1))
    bench_of.server.folder = tmp_path
    gauges = run("throughput").gauges
    assert {name: shown[0] for name, shown in gauges.items()} == {"pool in use": (0.0, 3), "pool waiting": (0.0, 1)}
    assert run("capacity").gauges["pool in use"][0] == (0.0, 3)


def test_where_no_process_has_a_gauge_none_is_kept(run):
    assert run("throughput").gauges == {}
