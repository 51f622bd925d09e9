"""Test the program ``loadtests``: help, version, completion, imports and exit status."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from loadtests.files import ROOT

OWN = ("--app", "docs/examples/chat")


@pytest.fixture(scope="module")
def loadtests(tmp_path_factory):
    """Return a function that runs the installed program in an empty folder and returns its output and errors."""
    environment = tmp_path_factory.mktemp("environment") / "venv"
    (environment / "bin").mkdir(parents=True)
    for name in ("pyvenv.cfg", "lib", "bin/python"):
        (environment / name).symlink_to(Path(sys.prefix) / name)
    (environment / ".ready").touch()
    program = environment / "bin" / "loadtests"
    subprocess.run(["make", f"VENV={environment}", str(program)], cwd=ROOT, check=True, capture_output=True, timeout=30)

    def run(*arguments, **env):
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        options = {"capture_output": True, "text": True, "timeout": 60}
        done = subprocess.run([program, *arguments], cwd=elsewhere, env={**os.environ, **env}, **options)
        return done.stdout, done.stderr

    return run


def test_installed_program_works_in_any_folder(loadtests):
    assert loadtests("--help")[0].strip().startswith("Usage: loadtests [OPTIONS] COMMAND")
    _, errors = loadtests("report", "nothing")
    missing = "nothing is not a run folder (does not exist)"
    assert errors == f"error: {missing}; `loadtests list runs` shows all run folders\n"


def test_version_shows_the_revision(command):
    code, printed, _ = command("--version")
    assert code == 0
    assert re.fullmatch(r"django-serving-benchmark \d+\.\d+\.\d+(, revision [0-9a-f]{12}( with changes)?)?\n", printed)


def test_ctrl_c_is_reported(cli):
    process = cli.start("check", "gunicorn")
    assert process.stdout.readline() == "preparing the project ...\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == "error: interrupted\n"
    assert process.returncode == 130
    cli.wait_until_nothing_runs()


@pytest.mark.parametrize(
    "words", [("serve", "gunicorn"), ("check", *OWN), ("run", *OWN), ("profile", "gunicorn", *OWN)]
)
def test_port_is_checked_before_the_project_loads(command, free_port, words):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port))
        listener.listen()
        code, printed, errors = command(*words)
    assert re.search(rf"port {free_port} is used by .*pid {os.getpid()}\b", errors)
    assert (code, "loading" in printed) == (1, False)


SLOW = {"altair", "django", "lmdb", "numpy", "psutil", "scipy", "vl_convert"}
HELP = """
import sys
sys.argv = ["loadtests", *sys.argv[1:], "--help"]
from loadtests.cli import main
try:
    main()
except SystemExit:
    pass
print("loaded:", *sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize("command", [(), ("run",)])
def test_help_imports_no_slow_modules(command):
    done = subprocess.run(
        [sys.executable, "-c", HELP, *command], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert set(done.stdout.rpartition("loaded: ")[2].split()) & SLOW == set()
