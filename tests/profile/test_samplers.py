"""Test that the sampler inside the servers finds the functions of small test programs."""

import os
import subprocess
import sys
from collections import Counter

import pytest

from loadtests.hosts.local import Host
from loadtests.profile import oncpu
from loadtests.profile.stacks import PROJECT, Frame, Reader
from loadtests.setups.application import sample

SAMPLE = """\
Stack (most recent call first):
  File "/srv/site/views.py", line 3 in ok
  File "/srv/site/main.py", line 9 in <module>

"""

# A forked process uses seven tenths of its CPU time in one function and three tenths in another, and a thread of its
# parent runs at the same time. Each process runs until it has enough samples to measure a share to within 0.05.
# The kernel checks the timer only when a tick interrupts the process. On a busy machine, at most a sixth of the ticks
# interrupt the process.
PROGRAM = """
import os, threading, time

def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(100))

def seven():
    burn(0.035)

def three():
    burn(0.015)

def thread():
    burn(0.035)

def until_sampled(*functions):
    stacks = os.path.join(os.environ["PROFILE_STACKS"], str(os.getpid()))
    while open(stacks).read().count("in burn") < 100:
        for function in functions:
            function()

if os.fork():
    one = threading.Thread(target=until_sampled, args=(thread,))
    one.start()
    one.join()
    os.wait()
else:
    until_sampled(seven, three)
    os._exit(0)
"""


@pytest.fixture
def sampled(tmp_path):
    """Return a function that runs a Python program under the sampler.

    The function returns the samples of the program's processes, and the program's output.
    """

    def run(program, *more_paths):
        stacks = tmp_path / "stacks"
        stacks.mkdir()
        existing = os.pathsep.join(map(str, more_paths))
        env = {**os.environ, **oncpu.environment(stacks, existing)}
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        found = oncpu.between(stacks, {}, oncpu.sizes(stacks), Reader(str(tmp_path)))
        return list(found.values()), done.stdout

    return run


def parts(process):
    """Return the number of samples by the function that called burn."""
    counts = Counter()
    for stack, number in process.items():
        names = [frame.name for frame in stack]
        if "burn" in names:
            counts[names[names.index("burn") - 1]] += number
    return counts


def test_readable_stacks_start_at_outermost_frame():
    two_at_once = SAMPLE.replace("line 9", 'lin  File "/srv')
    found = oncpu.parse(f"...of an earlier one\n{SAMPLE}{SAMPLE}{two_at_once}", Reader("/srv/site"))
    assert found == {(Frame("<module>", "main.py", PROJECT), Frame("ok", "views.py", PROJECT)): 2}


@pytest.mark.exhaustive
@pytest.mark.slow
def test_sampler_finds_shares_in_forks(sampled):
    found, _ = sampled(PROGRAM)
    of_thread, forked = sorted(map(parts, found), key=lambda counts: counts["seven"])
    assert of_thread.keys() == {"thread"}
    assert sum(forked.values()) >= 100
    assert 0.5 < forked["seven"] / sum(forked.values()) < 0.87


def test_existing_sitecustomize_still_runs(sampled, tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    (there / "sitecustomize.py").write_text("import builtins\nbuiltins.customised = True\n")
    _, printed = sampled("print(customised)", there)
    assert printed == "True\n"


def test_sampler_interval_matches_harness():
    source = (oncpu.FOLDER / "sitecustomize.py").read_text()
    assert f"INTERVAL_S = {oncpu.INTERVAL_S}" in source


@pytest.mark.servers
def test_starting_programs_are_not_sampled(tmp_path):
    """Supervisord isn't sampled. It forks before it executes a program, which the sampler's timer would kill.

    The guard's process doesn't execute another program.
    """
    knobs = {**sample().environment, "BENCH_BIND": "127.0.0.1", "BENCH_PORT": "1"}
    with Host().supervise({**knobs, **oncpu.environment(tmp_path, None)}) as supervised:
        assert supervised.programs("gunicorn")
        assert oncpu.sizes(tmp_path) == {}
