"""Test that the sampler inside the servers and py-spy find the functions of small test programs."""

import json
import subprocess
import sys
import time
from collections import Counter

import pytest

from loadtests.hosts.local import Local
from loadtests.profile import oncpu, pyspy
from loadtests.profile.stacks import Reader
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
    [(stack, number)] = found.items()
    assert (list(map(str, stack)), number) == (["<module> (main.py)", "ok (views.py)"], 2)


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
    with Local().supervise({**knobs, **oncpu.environment(tmp_path, None)}) as supervised:
        assert supervised.programs("gunicorn")
        assert oncpu.sizes(tmp_path) == {}


WAITS = """
import threading
def wait_long(): threading.Event().wait()
threading.Thread(target=wait_long, daemon=True).start()
print("ready", flush=True)
wait_long()
"""


DENIED = "Permission Denied: Try running again with elevated permissions"


@pytest.mark.parametrize(
    ("printed", "scope", "says"),
    [
        (DENIED, "0", "CAP_SYS_PTRACE is needed"),
        (DENIED, "1", "kernel.yama.ptrace_scope is 1"),
        (DENIED, "2", "setcap cap_sys_ptrace+ep"),
        (DENIED, "3", "only a reboot can change it"),
        ("hm\nError: Failed to find python version\nReason: x\n", "0", "py-spy: Error: Failed to find python version"),
    ],
)
def test_pyspy_error_has_remedy(tmp_path, printed, scope, says):
    yama = tmp_path / "ptrace_scope"
    yama.write_text(f"{scope}\n")
    said = pyspy.why(printed, yama)
    assert says in said
    assert "\n" not in said


def test_waiting_threads_are_sampled(tmp_path):
    program, file = tmp_path / "waits.py", tmp_path / "web.speedscope.json"
    program.write_text(WAITS)
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        spy = pyspy.Spy(process.pid, file, core=None)
        time.sleep(2)
        failure = spy.end(Reader(str(tmp_path)))
        process.kill()
    if "may not inspect" in failure:
        pytest.skip(failure)
    assert failure == ""
    written = json.loads(file.read_text())
    assert written["$schema"].startswith("https://www.speedscope.app/")
    assert ("wait_long", "waits.py") in {(frame["name"], frame["file"]) for frame in written["shared"]["frames"]}
    assert len(written["profiles"]) == 2
