import os
import subprocess
import sys
import time

import pytest

from loadtests.observe import processes
from loadtests.observe.processes import TICK_S, Part

BUSY = """
import os, sys
block = bytearray(60_000_000)
if os.fork() == 0:
    end = os.times().user + 0.3
    while os.times().user < end: pass
    print("done", flush=True)
    sys.stdin.read()
else:
    sys.stdin.read()
"""
ANSWERING = """
import sys
for line in sys.stdin: print(line, end="", flush=True)
"""
COMES_AND_GOES = """
import os, sys
for _ in range(3):
    if os.fork() == 0:
        end = os.times().user + 0.1
        while os.times().user < end: pass
        os._exit(0)
    os.wait()
print("done", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def busy():
    process = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    yield process
    process.stdin.close()
    process.stdout.close()
    process.wait()


def test_child_processes_are_counted(busy, monkeypatch):
    before = processes.snapshot([Part("worker_0", os.getpid())])
    assert busy.stdout.readline() == b"done\n"
    after = processes.snapshot([Part("worker_0", busy.pid, charged=False)])
    rows = {row.pid: row for row in processes.difference(before, after)}
    child = next(row for pid, row in rows.items() if pid != busy.pid)
    assert len(rows) == 2
    assert {(row.role, row.charged) for row in rows.values()} == {("worker", False)}
    assert 0.25 <= child.cpu_s < 5
    assert rows[busy.pid].peak_rss_mb >= 57
    assert child.context_switches > 0
    assert set(processes.snapshot([Part("agent", busy.pid, alone=True)])) == {busy.pid}

    def refusing(clock):
        raise OSError

    # If a process's clock can't be read, the CPU time comes from the kernel's count of ticks.
    monkeypatch.setattr(time, "clock_gettime_ns", refusing)
    used = processes.snapshot([Part("web", busy.pid)])
    assert 0.25 <= max(one.cpu_s for one in used.values()) < 5


def test_changing_processes_form_one_program():
    command = [sys.executable, "-c", COMES_AND_GOES]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        before = processes.snapshot([Part("postgresql", program.pid, as_one=True)])
        assert program.stdout.readline() == b"done\n"
        after = processes.snapshot([Part("postgresql", program.pid, as_one=True)])
        assert list(before) == list(after) == [program.pid]
        assert after[program.pid].cpu_s >= 0.25
        [row] = processes.difference(before, after)
        assert [one.context_switches for one in processes.together([[row], [row]])] == [None]
        program.stdin.close()


def test_usage_below_a_tick_is_seen():
    with subprocess.Popen([sys.executable, "-c", ANSWERING], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def answered():
            process.stdin.write(b"hello\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"hello\n"
            return processes.snapshot([Part("web", process.pid)])

        [row] = processes.difference(answered(), answered())
        process.stdin.close()
    assert 0 < row.cpu_s < TICK_S


def usage(cpu_s, switches):
    return processes.Usage("web", "gunicorn", 7, cpu_s, 10.0, 12.0, switches)


def test_small_usages_add_up():
    [row] = processes.difference({7: usage(1.5, 100)}, {7: usage(4.0, 130)})
    assert (row.cpu_s, row.context_switches, row.rss_mb, row.peak_rss_mb) == (2.5, 30, 10.0, 12.0)
    stretches = [processes.difference({7: usage(n, 0)}, {7: usage(n + 0.0002, 0)}) for n in range(5)]
    assert [row.cpu_s for row in processes.together(stretches)] == [pytest.approx(0.001)]
