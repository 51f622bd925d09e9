"""The command `loadtests` that `make setup` leaves next to Python: it works in every folder, and its words complete."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from loadtests.files import ROOT
from loadtests.records.run import folder


@pytest.fixture(scope="module")
def loadtests(tmp_path_factory):
    """A function: runs the command in a folder of its own; gives what it printed, and as an error."""
    environment = tmp_path_factory.mktemp("environment") / "venv"
    (environment / "bin").mkdir(parents=True)
    for name in ("pyvenv.cfg", "lib", "bin/python"):
        (environment / name).symlink_to(Path(sys.prefix) / name)
    (environment / ".ready").touch()
    program = environment / "bin" / "loadtests"
    subprocess.run(["make", f"VENV={environment}", str(program)], cwd=ROOT, check=True, capture_output=True, timeout=30)

    def run(*arguments, **env):
        done = subprocess.run(
            [program, *arguments],
            cwd=tmp_path_factory.mktemp("elsewhere"),
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.stdout, done.stderr

    return run


def completed(loadtests, *words):
    line = " ".join(("loadtests", *words))
    printed, errors = loadtests(
        _LOADTESTS_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words))
    )  # fmt: skip
    assert errors == ""
    return printed.split()


def test_it_works_in_another_folder_and_calls_itself_by_its_name(loadtests):
    assert loadtests("--help")[0].strip().startswith("Usage: loadtests [OPTIONS] COMMAND")
    _, errors = loadtests("report", "nothing")
    assert errors == "error: nothing is not a run folder (does not exist); `loadtests list` names those there are\n"


def test_studies_setups_and_runs_are_completed(loadtests):
    assert completed(loadtests, "run", "fir") == ["first-look"]
    assert completed(loadtests, "serve", "daphne-") == ["daphne-channels", "daphne-ipc", "daphne-redis"]
    references = {folder.name for folder in folder.runs() if folder.name.startswith("reference-")}
    assert references == set(completed(loadtests, "compare", "reference-"))


def test_the_last_of_a_list_of_setups_is_completed(loadtests):
    assert completed(loadtests, "run", "--setups", "gunicorn,uw") == [
        "gunicorn,uwsgi",
        "gunicorn,uwsgi-gevent",
        "gunicorn,uwsgi-threads",
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_a_shell_needs_is_printed(loadtests, shell):
    printed, _ = loadtests("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_LOADTESTS_COMPLETE" in printed
