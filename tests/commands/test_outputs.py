"""What cannot be written is said in one line, before anything is started, and nothing is left of it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from loadtests.analyse.history import History
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.report.formats import history

STUDY = 'setups = ["gunicorn"]\nblocks = 1\n[tests.latency]\nrate = 1\nduration = "1s"\n'
LINE = '127.0.0.1 - - [21/Nov/2026:07:30:00 +0000] "GET /x?a=1 HTTP/1.1" 200 12 "-" "curl/8"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a study, a log, a folder that is empty and a file; nothing can be started."""
    monkeypatch.setattr(subprocess, "Popen", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "access.log").write_text(LINE)
    (tmp_path / "a-folder").mkdir()
    (tmp_path / "a-file").touch()
    return tmp_path


COMMANDS = {
    "run": ("run", "study.toml"),
    "run --app": ("run", "study.toml", "--app", "a-folder"),  # which has no project: that would be said next
    "advise": ("advise", "gunicorn"),
    "profile": ("profile", "gunicorn", "--app", "a-folder"),
    "workload": ("workload", "log", "access.log"),
}
PLACES = {
    "/proc/nothing/here": "cannot write (to )?/proc/nothing/here: No such file or directory",
    "/proc/x": "cannot write (to )?/proc/x: No such file or directory",
    "a-file/x": "cannot write (to )?a-file/x: Not a directory",
    "a-folder": "a-folder exists already; name another",
    "a-file": "a-file exists already; name another",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_seen_before_anything_starts_and_what_is_there_already_stays(refused, folder, name, place):
    before = sorted(folder.rglob("*"))
    assert re.search(PLACES[place], refused(*COMMANDS[name], "--output", place))
    assert sorted(folder.rglob("*")) == before


def test_a_dry_run_says_so_too(command, folder, monkeypatch):
    monkeypatch.undo()
    code, _, errors = command("run", folder / "study.toml", "--dry-run", "--output", "/proc/x")
    assert code == 1
    assert "it would not begin: cannot write to /proc/x: No such file or directory" in errors


@pytest.mark.parametrize("place", ["/", "."])
def test_an_origin_that_cannot_write_its_url_does_not_begin(refused, folder, place):
    before = sorted(folder.rglob("*"))
    assert f"cannot write {place}: " in refused("origin", "fast", "--port", "0", "--url-file", place)
    assert sorted(folder.rglob("*")) == before


def test_a_history_that_is_to_be_a_folder():
    with pytest.raises(UserError, match=r"^\. is a folder; name the file with --output$"):
        history.write(History("a study", "", {}, [], []), Path("."))


def test_the_simulation_says_so_in_a_line():
    simulate = [sys.executable, "-m", "tools.simulation", "--output", "/proc/x"]
    done = subprocess.run(simulate, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: cannot write to /proc/x: No such file or directory\n")


def test_what_is_written_is_read_by_whom_the_umask_allows(command, folder):
    previous = os.umask(0o077)
    try:
        assert command("workload", "log", "access.log", "--output", "site.toml")[0] == 0
    finally:
        os.umask(previous)
    assert oct((folder / "site.toml").stat().st_mode) == "0o100600"
