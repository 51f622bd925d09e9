"""Test observations of a machine: its speed, the load of other programs, and the versions of servers."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from loadtests.hosts.local import Host
from loadtests.observe import calibration, conditions, machine, other_load, top_processes
from loadtests.observe.conditions import Conditions, Moment, together
from loadtests.observe.other_load import OthersMoment
from loadtests.observe.processes import Part
from loadtests.observe.top_processes import Taker, Takers
from tests.fixtures.waiting import wait_for

BURN = "import time\nwhile time.process_time() < 0.3: pass"
ME = Part("harness", os.getpid())


def test_calibration_loop_uses_requested_core(monkeypatch):
    before = os.sched_getaffinity(0)
    core = max(before)
    seen = set()
    monkeypatch.setattr(calibration, "_work", lambda: seen.add(frozenset(os.sched_getaffinity(0))))
    assert calibration.calibrate(core) > 0
    assert seen == {frozenset({core})}
    assert os.sched_getaffinity(0) == before


def test_calibration_spread_is_relative_to_median():
    assert calibration._work() == calibration._work() == len(calibration.HEADERS)
    assert calibration.spread([0.1, 0.1, 0.2, 0.1, 0.08]) == (0.5, 1.25)


def test_other_load_excludes_the_setup():
    first = Moment(monotonic_s=10.0, wall_s=1000.0, cores_busy_s=50.0, swapped_pages=3, mhz=None)
    found = conditions.between(first, Moment(20.0, 1012.5, 66.0, 10, None), [0, 1], own_cpu_s=12.0)
    assert found == Conditions(10.0, clock_jump_s=2.5, other_load=(16.0 - 12.0) / 20.0, swapped_pages=7, mhz=None)
    assert conditions.between(first, Moment(20.0, 1010.0, 50.0, 3, None), [0], own_cpu_s=1.0).other_load == 0.0


def test_conditions_are_weighted_by_duration():
    short = Conditions(elapsed_s=1.0, clock_jump_s=0.1, other_load=0.5, swapped_pages=1, mhz=None)
    long = Conditions(elapsed_s=9.0, clock_jump_s=-0.2, other_load=0.1, swapped_pages=2, mhz=2000.0)
    assert together([short, long]) == Conditions(10.0, -0.2, pytest.approx(0.14), 3, 2000.0)


@pytest.fixture
def busy(monkeypatch):
    """Simulate cores that were busy for 5,000 s, including 10 s in interrupts and 40 s stolen by the hypervisor."""
    monkeypatch.setattr(conditions, "now", lambda cores: Moment(1.0, 2.0, 5000.0, 3, 2000.0))
    monkeypatch.setattr(conditions, "interrupts_s", lambda cores: 10.0)
    monkeypatch.setattr(conditions, "stolen_s", lambda cores: 40.0)


def test_other_load_excludes_interrupts(busy):
    seen = other_load.moment([0, 1], [])
    assert seen == OthersMoment(1.0, (5000.0 - 10.0 - 40.0) / 2, 20.0, 3, 2000.0)
    with subprocess.Popen(["true"]) as gone:
        pass
    assert other_load.moment([0, 1], [Part("gone", gone.pid)]) == seen
    before = other_load.moment([0, 1], [ME]).programs_s
    assert before < seen.programs_s
    # The CPU time of the harness's ended child processes belongs to the harness.
    subprocess.run([sys.executable, "-c", BURN], check=True)
    assert before - other_load.moment([0, 1], [ME]).programs_s > 0.1
    alone = Part("harness", os.getpid(), alone=True)
    assert other_load.moment([0], [alone]).programs_s > other_load.moment([0], [ME]).programs_s + 0.2


def test_stolen_time_is_always_reported():
    first = OthersMoment(monotonic_s=10.0, programs_s=7.0, stolen_s=1.0, swapped_pages=3, mhz=None)
    last = OthersMoment(monotonic_s=20.0, programs_s=6.0, stolen_s=3.0, swapped_pages=5, mhz=2000.0)
    assert other_load.between(first, last) == Conditions(10.0, 0.0, 0.2, 2, 2000.0)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (Takers((Taker("idle", 1, 0.01),), brief=0.01, steal=0.01), "currently no other program uses the cores"),
        (
            Takers(brief=0.5, steal=0.3),
            "the cores are currently used by short-lived programs (50% of a core) and other machines on this "
            "hypervisor (steal, 30% of a core)",
        ),
        (Takers((Taker("\x1b[2J\n", 1, 1.0),)), r"the cores are currently used by \x1b[2J\n (pid 1, 100% of a core)"),
    ],
)
def test_only_busy_programs_are_reported(found, sentence):
    assert found.sentence == sentence


def test_child_processes_are_excluded(monkeypatch):
    busy = f"{sys.executable} -c 'while True: pass'"
    orphan = int(subprocess.check_output(["sh", "-c", f"timeout 60 {busy} >/dev/null & echo $!"]))
    child = subprocess.Popen(["sh", "-c", f"exec {busy}"])
    monkeypatch.setattr(top_processes, "WATCHED_S", 0.5)
    try:
        [burner] = wait_for(psutil.Process(orphan).children)
        found = {one.pid: one.share for one in Host().top_processes().programs}
    finally:
        os.kill(orphan, signal.SIGTERM)
        child.kill()
        child.wait()
    assert found[burner.pid] > 0.05
    assert not found.keys() & {child.pid, os.getpid()}


def test_server_versions_come_from_their_output(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "nginx").write_text("#!/bin/sh\necho 'nginx version: nginx/1.22.1' >&2\n")
    (tmp_path / "nginx").chmod(0o755)
    assert machine.versions()["nginx"] == "1.22.1"
    (tmp_path / "nginx").write_text("#!/bin/sh\nexit 1\n")
    assert machine.versions()["nginx"] is None
