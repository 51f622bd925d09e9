"""Who takes the cores, other than this process and what it started."""

import os
import subprocess
import sys
import time

import pytest

from loadtests.hosts.local import Local
from loadtests.observe import top_processes
from loadtests.observe.top_processes import CpuLook, Taker, Takers, between

COMPILER, OURS, BEGUN = (7, 1.0), (8, 2.0), (9, 3.0)


def look(at_s, cpu_s, busy_s, steal_s=0.0, ours=(OURS,)):
    return CpuLook(
        at_s, {key: (f"program {key[0]}", used) for key, used in cpu_s.items()}, frozenset(ours), busy_s, steal_s
    )


def test_others_have_their_share_of_a_core_and_we_are_not_among_them():
    found = between(look(0.0, {COMPILER: 5.0, OURS: 1.0}, 100.0), look(2.0, {COMPILER: 6.5, OURS: 2.0}, 102.5))
    assert found == Takers((Taker("program 7", 7, 0.75),))


def test_what_the_hypervisor_took_is_distinguished():
    assert between(look(0.0, {}, 100.0), look(2.0, {}, 100.0, steal_s=1.0)) == Takers(steal=0.5)


def test_what_began_and_ended_meanwhile_is_what_is_missing_of_the_sum():
    first, last = look(0.0, {OURS: 0.0}, 100.0), look(1.0, {OURS: 0.25, BEGUN: 0.25}, 101.0, ours=(OURS, BEGUN))
    assert between(first, last) == Takers(brief=0.5)


def test_a_pid_that_was_given_again_is_another_program():
    assert between(look(0.0, {COMPILER: 50.0}, 100.0), look(1.0, {(7, 9.0): 0.5}, 100.5)) == Takers(brief=0.5)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (Takers(), "just now nothing else takes the cores"),
        (Takers((Taker("idle", 1, 0.01),), brief=0.01, steal=0.01), "just now nothing else takes the cores"),
        (
            Takers((Taker("a", 1, 1.5), Taker("b", 2, 0.9), Taker("c", 3, 0.5), Taker("d", 4, 0.4))),
            "just now the cores are taken by a (pid 1, 150% of a core), b (pid 2, 90% of a core) and "
            "c (pid 3, 50% of a core)",
        ),
        (
            Takers(brief=0.5, steal=0.3),
            "just now the cores are taken by programs that come and go (50% of a core) and other machines of the "
            "hypervisor (steal, 30% of a core)",
        ),
        (Takers((Taker("\x1b[2J\n", 1, 1.0),)), r"just now the cores are taken by \x1b[2J\n (pid 1, 100% of a core)"),
    ],
)
def test_they_are_reported_in_one_line_the_greedy_only(found, sentence):
    assert found.sentence == sentence


def test_what_this_process_started_is_ours(monkeypatch):
    spin = [sys.executable, "-c", "while True: pass"]
    child = subprocess.Popen(spin)
    monkeypatch.setattr(top_processes, "WATCHED_S", 0.2)
    try:
        time.sleep(0.1)
        found = {one.pid for one in Local().top_processes().programs}
    finally:
        child.kill()
        child.wait()
    assert found
    assert not found & {child.pid, os.getpid()}
