import os
import subprocess
import sys

import pytest

from loadtests.observe import processes
from loadtests.observe.processes import Part

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


@pytest.fixture
def busy():
    process = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    yield process
    process.stdin.close()
    process.stdout.close()
    process.wait()


def test_cpu_and_memory_of_a_process_and_its_children_are_counted(busy):
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


def test_usage_is_the_difference_between_two_moments():
    def usage(cpu_s, switches):
        return processes.Usage("web", "gunicorn", 7, cpu_s, 10.0, 12.0, switches)

    [row] = processes.difference({7: usage(1.5, 100)}, {7: usage(4.0, 130)})
    assert (row.cpu_s, row.context_switches, row.rss_mb, row.peak_rss_mb) == (2.5, 30, 10.0, 12.0)


def test_a_process_that_is_gone_is_left_out():
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
        assert processes.snapshot([Part("web", gone.pid)]) == {}
