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
from loadtests.records.run import folder

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


RUNS = sorted(run.name for run in folder.runs() if run.name.startswith("reference-"))


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (("run", "fir"), ["first-look"]),
        (("serve", "daphne-"), ["daphne-channels", "daphne-ipc", "daphne-redis"]),
        (("compare", "reference-"), RUNS),
        (("run", "--setups", "gunicorn,uw"), [f"gunicorn,uwsgi{kind}" for kind in ("", "-gevent", "-threads")]),
    ],
)
def test_names_are_completed(loadtests, words, completed):
    line = " ".join(("loadtests", *words))
    env = {"_LOADTESTS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    printed, errors = loadtests(**env)
    assert (sorted(printed.split()), errors) == (completed, "")


@pytest.mark.parametrize("before", [(), ("run",), ("hosts", "prepare")])
def test_short_help_option_is_supported(command, before):
    code, printed, _ = command(*before, "-h")
    assert (code, printed) == (0, command(*before, "--help")[1])
    assert re.search("--help +-h ", printed)


def test_help_is_shown_without_command(command):
    code, printed, errors = command()
    assert (code, errors) == (2, "")
    assert "Usage: " in printed
    assert "profile" in printed


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


def test_interrupted_check_prints_its_results(cli):
    process = cli.start("check", "gunicorn,uvicorn,daphne", "--path", "/")
    while process.stdout.readline() != "daphne ...\n":
        pass
    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate(timeout=60)
    assert printed.endswith("1 request to each of 2 setups: 0 differences\n")
    assert (process.returncode, errors) == (130, "error: interrupted before all setups were compared\n")
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


# Modules that may import rich. The formats need rich because `report` passes its console to them.
PRINTS = (
    "loadtests/commands/",
    "loadtests/report/formats/",
    "loadtests/report/reports.py",
    "loadtests/report/terminal_tables.py",
)
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


def test_only_printing_modules_import_rich():
    files = ((file, file.read_text(encoding="utf-8")) for file in (ROOT / "loadtests").rglob("*.py"))
    importing = [
        str(file.relative_to(ROOT)) for file, text in files if re.search(r"^ *(from|import) rich\b", text, re.M)
    ]
    assert [file for file in importing if not file.startswith(PRINTS)] == []


@pytest.mark.parametrize("command", [(), ("run",)])
def test_help_imports_no_slow_modules(command):
    done = subprocess.run(
        [sys.executable, "-c", HELP, *command], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert set(done.stdout.rpartition("loaded: ")[2].split()) & SLOW == set()
