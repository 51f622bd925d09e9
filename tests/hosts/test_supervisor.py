"""Test supervisord on this machine: failed starts, and Ctrl-C during a query."""

import http.client
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


def test_failed_start_shows_last_line(tmp_path):
    program = tmp_path / "sh"  # it starts supervisord
    program.write_text("#!/bin/sh\nseq 1000\necho 'Error: no space'\necho\nexit 2\n")
    program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    with pytest.raises(UserError) as failed, hosts.at("local").supervise({"PATH": path}):
        pass
    assert str(failed.value) == "supervisord did not start: Error: no space"


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
        early = logged("Traceback (most recent call last):", "ValueError", *frames * 5)
        assert early.count("\n") == 20


def test_interrupt_during_answer_is_raised(free_port):
    def interrupt(frame, event, argument):
        if event == "call" and frame.f_code is http.client.HTTPResponse.close.__code__:
            sys.setprofile(None)
            raise KeyboardInterrupt

    with hosts.at("local").supervise({"BENCH_PORT": str(free_port), "BENCH_BIND": "127.0.0.1"}) as supervised:
        sys.setprofile(interrupt)
        try:
            with pytest.raises(KeyboardInterrupt):
                supervised.programs("gunicorn")
        finally:
            sys.setprofile(None)


def kill_the_guard(supervised, below, *groups):
    """Start groups, add the guard's processes to ``below``, kill the guard, and query the last group until an error."""
    for group in groups:
        supervised.start(group)
    [guard] = [one for one in psutil.Process().children() if "guard.py" in " ".join(one.cmdline())]
    below.extend(guard.children(recursive=True))
    guard.kill()
    while True:
        supervised.programs(groups[-1])


@pytest.mark.servers
@pytest.mark.parametrize("groups", [["gunicorn"], ["redis", "daphne-redis"]], ids=" ".join)
def test_killed_guard_ends_everything(groups, free_port):
    supervised = hosts.at("local").supervise({"BENCH_PORT": str(free_port), "BENCH_BIND": "127.0.0.1"})
    below = []
    with pytest.raises(UserError, match=r"^another program ended supervisord"), supervised:
        kill_the_guard(supervised, below, *groups)
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
