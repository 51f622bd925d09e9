"""py-spy's output, its refusals, and py-spy itself on a process that waits."""

import subprocess
import sys
import time

import pytest

from loadtests.profile import pyspy
from loadtests.profile.stacks import Reader

RAW = """\
thread (0x7F01): MainThread;<module> (/srv/site/main.py:1);serve (/srv/site/main.py:3) 7
thread (0x7F02): pool_0;_worker (/usr/lib/python3.11/concurrent/futures/thread.py:69) 14
thread (0x7F01): MainThread 1
"""

WAITS = """
import threading
def wait_long(): threading.Event().wait()
threading.Thread(target=wait_long, daemon=True).start()
print("ready", flush=True)
wait_long()
"""


def test_stacks_lose_their_threads_and_the_main_one_counts_the_looks():
    stacks, looks = pyspy.parse(RAW, Reader("/srv/site"))
    assert looks == 8
    assert {tuple(frame.name for frame in stack): number for stack, number in stacks.items()} == {
        ("<module>", "serve"): 7,
        ("_worker",): 14,
        (): 1,
    }


DENIED = "Permission Denied: Try running again with elevated permissions"


@pytest.mark.parametrize(
    ("printed", "scope", "says"),
    [
        (DENIED, "0", "CAP_SYS_PTRACE is needed"),
        (DENIED, "1", "kernel.yama.ptrace_scope is 1"),
        (DENIED, "2", "setcap cap_sys_ptrace+ep"),
        (DENIED, "3", "until the next boot"),
        ("hm\nError: Failed to find python version\nReason: x\n", "0", "py-spy: Error: Failed to find python version"),
    ],
)
def test_a_refusal_says_what_to_do_in_a_line(tmp_path, printed, scope, says):
    yama = tmp_path / "ptrace_scope"
    yama.write_text(f"{scope}\n")
    said = pyspy.why(printed, yama)
    assert says in said
    assert "\n" not in said


def test_waiting_threads_are_seen(tmp_path):
    program = tmp_path / "waits.py"
    program.write_text(WAITS)
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        spy = pyspy.Spy(process.pid, tmp_path / "raw", core=None)
        time.sleep(2)
        threads = spy.end(Reader(str(tmp_path)))
        process.kill()
    if "may not look" in threads.failure:
        pytest.skip(threads.failure)
    assert threads.failure == ""
    assert threads.looks > 5
    waiting = sum(number for stack, number in threads.stacks.items() if "wait_long" in str(stack))
    assert waiting == pytest.approx(2 * threads.looks, rel=0.2)
