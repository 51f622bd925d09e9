"""Test supervisord on this machine: failed starts, logs, and the end of its programs."""

import os
import sys

import psutil
import pytest

from loadtests import hosts
from loadtests.cleanup import program
from loadtests.cleanup.program import public_environment
from loadtests.errors import UserError, reason_of


def test_failed_start_is_reported():
    supervised = hosts.at("local").supervise({"BENCH_KEEP_ALIVE": "99"})
    with (
        pytest.raises(UserError, match=r"^supervisord did not start: defaults.sh: all servers accept "),
        supervised,
    ):
        pass
    assert not supervised.folder.exists()


def test_logs_contain_a_whole_traceback():
    def logged(*lines):
        (supervised.folder / "web.log").write_text("\n".join(lines))
        return supervised.logs()

    frames = [f"  File {number}" for number in range(50)]
    with hosts.at("local").supervise({}) as supervised:
        raised = logged("first", "Traceback (most recent call last):", *frames, "ValueError: no key", "boot failed")
        assert raised.startswith("--- web.log\nTraceback (most recent call last):\n  File 0\n")
        assert reason_of(raised) == "ValueError: no key"
        assert logged("first", *frames) == "\n".join(["--- web.log", *frames[-20:]])


def kill_the_guard(supervised, below):
    """Start two groups, add the guard's processes to ``below``, kill the guard, and query a group until an error."""
    supervised.start("redis")
    supervised.start("daphne-redis")
    [guard] = [one for one in psutil.Process().children() if "guard.py" in " ".join(one.cmdline())]
    below.extend(guard.children(recursive=True))
    guard.kill()
    while True:
        supervised.programs("daphne-redis")


@pytest.mark.servers
def test_killed_guard_ends_everything(free_port):
    supervised = hosts.at("local").supervise({"BENCH_PORT": str(free_port), "BENCH_BIND": "127.0.0.1"})
    below = []
    with pytest.raises(UserError, match=r"^another program ended supervisord"), supervised:
        kill_the_guard(supervised, below)
    assert below
    assert not [one for one in below if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    assert not supervised.folder.exists()
    hosts.at("local").require_free("127.0.0.1", free_port)


def test_served_programs_get_no_passwords(monkeypatch):
    monkeypatch.setenv("JOURNEY_PASSWORD", "hunter2")
    monkeypatch.setenv("JOURNEYS", "kept")
    env = public_environment(os.environ)
    assert (env.get("JOURNEY_PASSWORD"), env["JOURNEYS"]) == (None, "kept")
    reported = program.run([sys.executable, "-c", "import os; print(os.environ.get('JOURNEY_PASSWORD'))"], 60.0)
    assert reported.printed.strip() == "None"
