"""Test that no process outlives the harness, and that the next start of the harness removes leftover folders."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from loadtests.cleanup import program
from loadtests.files import ROOT
from tests.fixtures.waiting import wait_for

# A shell that ignores SIGTERM and starts a daemon in a separate session. The daemon's parent ends.
STUBBORN = 'trap "" TERM; (setsid sleep 321 &) ; echo ready; while :; do sleep 0.1; done'


def sleepers(mark):
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        environ = process.info["environ"] or {}
        if environ.get("TEST_MARK") == mark:
            found.append(process)
    return found


@pytest.fixture
def guard(tmp_path, monkeypatch):
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    process = subprocess.Popen(
        [sys.executable, "-m", "loadtests.cleanup.guard", "sh", "-c", STUBBORN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TEST_MARK": mark, "GUARD_GRACE_S": "0.5"},
    )
    process.mark = mark
    assert process.stdout.readline() == b"ready\n"
    yield process
    for left in sleepers(mark):
        with contextlib.suppress(psutil.NoSuchProcess):
            left.kill()
    process.stdout.close()
    process.stdin.close()
    process.wait()


def test_guard_kills_all_processes(guard):
    assert len(sleepers(guard.mark)) >= 3
    guard.stdin.close()
    wait_for(lambda: not sleepers(guard.mark), "processes are left")
    assert guard.wait(10) == 0


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no /dev/shm")
def test_guard_removes_folder_and_shared_memory(tmp_path):
    folder = tmp_path / f"removed-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir()
    shared = Path("/dev/shm")
    left = [shared / f"{folder.name}-dict", shared / f"sem.{folder.name}-dict", shared / f"{folder.name}"]
    for file in left:
        file.touch()
    try:
        command = [sys.executable, "-m", "loadtests.cleanup.guard", "true"]
        subprocess.run(command, env={**os.environ, "GUARD_REMOVES": str(folder)}, stdin=subprocess.DEVNULL, check=True)
        assert not folder.exists()
        assert [file for file in left if file.exists()] == [shared / folder.name]  # names without a suffix are kept
    finally:
        for file in left:
            file.unlink(missing_ok=True)


def test_guard_ignores_ctrl_c_and_sigterm(guard):
    guard.send_signal(signal.SIGINT)
    guard.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    assert guard.poll() is None


@pytest.mark.parametrize(
    ("command", "status", "errors"),
    [
        (["sh", "-c", "exit 3"], 3, ""),
        (["sh", "-c", "kill -9 $$"], 128 + 9, ""),
        (["no-such-command"], 127, "the command can't be run: No such file or directory\n"),
        (["sh", "-c", "env | grep GUARD"], 1, ""),  # the command doesn't receive the guard's variables
    ],
)
def test_guard_returns_status_of_command(command, status, errors):
    ended = program.run(command, within_s=20)
    assert (ended.status, ended.printed, ended.errors) == (status, "", errors)


def test_guard_ignores_pythonpath(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('this was read')\n")
    ended = program.run(["sh", "-c", "echo $PYTHONPATH"], within_s=20, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert (ended.printed, ended.errors) == (f"{tmp_path}\n", "")


MAKE = """
import sys
from loadtests.cleanup import folders
with folders.private("test", memory=False) as folder:
    (folder / "file").write_text("something")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def begin(tmp_path):
    """Return a function that starts a process with a private folder and returns the process and the folder.

    The process runs until its standard input closes.
    """
    processes = []

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", MAKE],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process, tmp_path / os.path.basename(process.stdout.readline().strip())

    yield start
    for process in processes:
        process.communicate()


@pytest.fixture
def abandoned(begin):
    """Return the private folder of a process that was killed."""
    process, folder = begin()
    process.kill()
    process.communicate()
    assert folder.exists()
    return folder


def test_folder_is_removed_with_its_process(begin):
    process, folder = begin()
    assert folder.stat().st_mode & 0o777 == 0o700
    process.communicate()
    assert not folder.exists()


def test_folders_of_dead_processes_are_removed(begin, abandoned, tmp_path):
    left = [abandoned, tmp_path / f"{abandoned.name}-dict", tmp_path / f"sem.{abandoned.name}-dict-semaphore"]
    for file in left[1:]:  # files in shared memory are named after the folder
        file.write_text("")
    _, living = begin()
    assert [one for one in left if one.exists()] == []
    (tmp_path / f"{living.name}-dict").write_text("")
    pid, start = re.match(r"bench-test-(\d+)-(\d+)", living.name).groups()
    of_another = tmp_path / living.name.replace(f"-{pid}-{start}-", f"-{pid}-{int(start) - 1}-")  # same pid
    of_another.mkdir()
    begin()
    assert not of_another.exists()
    assert living.exists()
    assert (tmp_path / f"{living.name}-dict").exists()


def test_unrelated_folders_are_kept(begin, abandoned, tmp_path):
    others = [tmp_path / name for name in ("bench-1", "bench-test-1-1-1", "layers-1-1-1-abcdefgh")]
    others.append(tmp_path / re.sub(r"-[0-9a-f]+-(\w{8})$", r"-1-\1", abandoned.name))
    for other in others:
        other.mkdir()
    precious = abandoned.rename(tmp_path / "precious")
    abandoned.symlink_to(precious)
    begin()
    assert all(other.exists() for other in others)
    assert (precious / "file").exists()
