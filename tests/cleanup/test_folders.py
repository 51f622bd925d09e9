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


def test_that_of_a_killed_process_is_removed_by_the_next(begin, abandoned):
    begin()
    assert not abandoned.exists()


def test_what_it_left_in_shared_memory_is_removed_as_well(begin, abandoned, tmp_path):
    left = [tmp_path / f"{abandoned.name}-dict", tmp_path / f"sem.{abandoned.name}-dict-semaphore"]
    _, living = begin()
    kept = tmp_path / f"{living.name}-dict"
    for file in (*left, kept):
        file.write_text("")
    begin()
    assert [file for file in left if file.exists()] == []
    assert kept.exists()


def test_that_of_a_living_process_is_left_alone(begin):
    _, first = begin()
    _, second = begin()
    assert first.exists()
    assert second.exists()


def test_a_process_of_the_same_number_is_another(begin, tmp_path):
    _, living = begin()
    pid, start = re.match(r"bench-test-(\d+)-(\d+)", living.name).groups()
    earlier = living.name.replace(f"-{pid}-{start}-", f"-{pid}-{int(start) - 1}-")
    (tmp_path / earlier).mkdir()
    begin()
    assert not (tmp_path / earlier).exists()
    assert living.exists()


def test_those_of_another_container_are_left_alone(begin, abandoned):
    name = re.sub(r"-[0-9a-f]+-(\w{8})$", r"-1-\1", abandoned.name)
    elsewhere = abandoned.rename(abandoned.with_name(name))
    begin()
    assert elsewhere.exists()


def test_a_link_of_such_a_name_is_not_followed(begin, abandoned, tmp_path):
    precious = tmp_path / "precious"
    abandoned.rename(precious)
    abandoned.symlink_to(precious)
    begin()
    assert (precious / "file").exists()


def test_what_has_another_name_is_not_looked_at(begin, tmp_path):
    others = [tmp_path / name for name in ("bench-1", "bench-test-1-1-1", "layers-1-1-1-abcdefgh")]
    for other in others:
        other.mkdir()
    begin()
    assert all(other.exists() for other in others)
