"""Folders of one process: none outlives it for longer than until the next one starts, and no other is touched."""

import os
import re
import subprocess
import sys

import pytest

from loadtests.files import ROOT

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
    """A function: starts a process that has such a folder until its standard input closes; gives both."""
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
    """The folder of a process that was killed."""
    process, folder = begin()
    process.kill()
    process.communicate()
    assert folder.exists()
    return folder


def test_a_folder_goes_with_its_process(begin):
    process, folder = begin()
    assert folder.stat().st_mode & 0o777 == 0o700
    process.communicate()
    assert not folder.exists()


def test_that_of_a_killed_process_is_removed_by_the_next_and_that_of_a_living_one_is_not(begin, abandoned, tmp_path):
    left = [abandoned, tmp_path / f"{abandoned.name}-dict", tmp_path / f"sem.{abandoned.name}-dict-semaphore"]
    for file in left[1:]:  # in shared memory
        file.write_text("")
    _, living = begin()
    assert [one for one in left if one.exists()] == []
    (tmp_path / f"{living.name}-dict").write_text("")
    pid, start = re.match(r"bench-test-(\d+)-(\d+)", living.name).groups()
    of_another = tmp_path / living.name.replace(f"-{pid}-{start}-", f"-{pid}-{int(start) - 1}-")  # which had its pid
    of_another.mkdir()
    begin()
    assert not of_another.exists()
    assert living.exists()
    assert (tmp_path / f"{living.name}-dict").exists()


def test_what_is_not_such_a_folder_or_of_another_container_is_left_alone(begin, abandoned, tmp_path):
    others = [tmp_path / name for name in ("bench-1", "bench-test-1-1-1", "layers-1-1-1-abcdefgh")]
    others.append(tmp_path / re.sub(r"-[0-9a-f]+-(\w{8})$", r"-1-\1", abandoned.name))
    for other in others:
        other.mkdir()
    precious = abandoned.rename(tmp_path / "precious")
    abandoned.symlink_to(precious)
    begin()
    assert all(other.exists() for other in others)
    assert (precious / "file").exists()
