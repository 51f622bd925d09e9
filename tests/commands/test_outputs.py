"""Test that commands with an unwritable output print a one-line error and leave no file."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from loadtests.commands.progress import carry_out
from loadtests.files import ROOT
from loadtests.measure import prepare as preparing
from loadtests.measure.run import Execution
from loadtests.plan import study as studies
from loadtests.records import Trial
from tests.fixtures.hostile import toml
from tests.fixtures.studies import SMALL

LINE = '127.0.0.1 - - [21/Nov/2026:07:30:00 +0000] "GET /x?a=1 HTTP/1.1" 200 12 "-" "curl/8"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with a study, a log, an empty folder and a file, and prevent the start of processes."""
    monkeypatch.setattr(subprocess, "Popen", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(toml(SMALL))
    (tmp_path / "access.log").write_text(LINE)
    (tmp_path / "a-folder").mkdir()
    (tmp_path / "a-file").touch()
    return tmp_path


COMMANDS = {
    "run": ("run", "study.toml"),
    "run --app": ("run", "study.toml", "--app", "a-folder"),  # the command would check the project later
    "workload": ("workload", "log", "access.log"),
}
PLACES = {
    "/proc/x": "cannot write (to )?/proc/x: No such file or directory",
    "a-file/x": "cannot write (to )?a-file/x: Not a directory",
    "a-folder": "a-folder already exists. Name another",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", COMMANDS)
def test_unwritable_output_is_refused_early(refused, folder, name, place):
    before = sorted(folder.rglob("*"))
    assert re.search(PLACES[place], refused(*COMMANDS[name], "--output", place))
    assert sorted(folder.rglob("*")) == before


def test_dry_run_reports_unwritable_output(command, folder, monkeypatch):
    monkeypatch.undo()
    code, _, errors = command("run", folder / "study.toml", "--dry-run", "--output", "/proc/x")
    assert code == 1
    assert "the run could not start: cannot write to /proc/x: No such file or directory" in errors


@pytest.fixture
def disk(tmp_path):
    """Yield the folder of a mounted file system of 400 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "none", str(folder)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder):
    with contextlib.suppress(OSError), (folder / "everything").open("wb") as file:
        while True:
            file.write(b"a" * 1000)
            file.flush()


@pytest.fixture
def run(build_run, disk):
    built = build_run(labels=("gunicorn",), tests=("latency",), blocks=1)
    return shutil.copytree(built.path, disk / "run")


def test_report_on_full_disk_changes_nothing(run, disk, command):
    fill(disk)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    code, printed, errors = command("report", run, "--rebuild")
    assert (code, printed, errors.count("\n")) == (1, "", 1)
    assert "cannot write" in errors
    assert "No space left on device" in errors
    left = [path for path in run.rglob("*") if path.is_file() and path not in before]
    assert [path for path in left if path.name.startswith(".") or not path.stat().st_size] == []
    assert all(path.read_bytes() == content for path, content in before.items())


def test_run_on_full_disk_suggests_resume(disk, bench_of, capsys):
    study = studies.parse(SMALL, "small", "small.toml")
    execution = preparing.prepare(study, preparing.RunOptions(disk / "run", 1), bench_of)

    def interleaved(bench, places, doing):
        [place] = places
        fill(disk)
        setup, test = place.entry.setup, place.test.name
        yield [Trial(place.slot.number, place.slot.block, setup, setup, test, 1, "", "ok", log="a" * 10_000)]

    with pytest.raises(SystemExit) as ended:
        carry_out(Execution(execution.run, execution.bench, interleaved=interleaved))
    errors = capsys.readouterr().err
    assert (ended.value.code, errors.count("\n")) == (1, 1)
    assert "No space left on device; continue with: python -m loadtests run --resume" in errors
    assert json.loads((disk / "run" / "run.json").read_text())["ended"] is None


def test_stdout_without_space_is_reported():
    command = [sys.executable, "-m", "loadtests", "list", "setups"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: cannot write the output: No space left on device\n")
