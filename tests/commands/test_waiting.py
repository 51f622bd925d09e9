"""Test the progress messages of commands, and the warning about a busy machine."""

import ast
import io
import os
import pty
import subprocess
import sys

import pytest
import typer
from rich.console import Console

from loadtests.commands.console import err, look_first, waiting
from loadtests.files import ROOT
from loadtests.measure import doctor
from loadtests.observe.top_processes import Taker, Takers

COMMANDS = sorted(path.name for path in (ROOT / "loadtests" / "commands").glob("*.py"))


def test_progress_is_cleared_in_terminal():
    text = io.StringIO()
    with waiting(Console(file=text, width=120, force_terminal=True, color_system=None)) as report:
        assert "preparing ..." in text.getvalue()
        report("starting [gunicorn]\x1b[2J")
    shown = text.getvalue()
    assert "starting [gunicorn] ..." in shown
    assert "\x1b[2J" not in shown
    assert shown.endswith("\x1b[1A\x1b[2K")  # moves the cursor up one line and clears the line


def test_progress_without_terminal_is_printed():
    text = io.StringIO()
    with waiting(Console(file=text, width=20), "preparing") as report:
        report("preparing the project of [mine]")
        report("starting gunicorn")
    assert text.getvalue() == "preparing the project of [mine] ...\nstarting gunicorn ...\n"


def waits_for(node, inside=False):
    """Yield the modules that a command's function imports before it shows its progress with ``waiting``."""
    if isinstance(node, ast.With):
        inside = inside or any(
            isinstance(item.context_expr, ast.Call) and getattr(item.context_expr.func, "id", "") == "waiting"
            for item in node.items
        )
    if isinstance(node, ast.ImportFrom) and not inside:
        yield node.module
    for child in ast.iter_child_nodes(node):
        yield from waits_for(child, inside)


@pytest.mark.parametrize("name", COMMANDS)
def test_command_shows_progress_before_imports(name):
    tree = ast.parse((ROOT / "loadtests" / "commands" / name).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "command"]
    modules = {module for function in functions for module in waits_for(function)}
    assert {module for module in modules if not module.startswith("loadtests.commands.")} == set()


def test_terminal_shows_progress_before_error():
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "loadtests", "check", "nothing-of-this-name"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while chunk := read(ours):
        shown += chunk
    os.close(ours)
    assert process.wait(timeout=60) == 1
    assert 0 <= shown.index(b"preparing ...") < shown.index(b"unknown setup")
    assert shown.endswith(b"\r\n")


def read(file):
    try:
        return os.read(file, 4096)
    except OSError:  # raised on Linux after the terminal's other end is closed
        return b""


BUSY = "busy: other programs use 50% of the cores; the cores are currently used by python (pid 7, 99% of a core). These"


@pytest.mark.parametrize(
    ("share", "anyway", "terminal", "answer", "begins", "asked", "code"),
    [
        (0.99, False, True, True, BUSY, 1, 0),
        (0.99, False, True, False, BUSY, 1, 1),
        (0.99, True, True, False, BUSY, 0, 0),
        (0.99, False, False, False, BUSY, 0, 0),  # without a terminal
        (0.1, False, True, False, "", 0, 0),
    ],
)
def test_busy_machine_prompts_in_terminal(monkeypatch, capsys, share, anyway, terminal, answer, begins, asked, code):
    questions = []
    monkeypatch.setattr(doctor.top_processes, "watch", lambda rest: Takers((Taker("python", 7, share),)))
    monkeypatch.setattr(doctor.top_processes.psutil, "cpu_count", lambda: 2)
    monkeypatch.setattr(type(err), "is_terminal", terminal)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(typer, "confirm", lambda *given, **options: questions.append(given) or answer)
    ended = 0
    try:
        look_first(err, anyway)
    except SystemExit as exited:
        ended = exited.code
    said = " ".join(capsys.readouterr().err.split())
    assert (said.startswith(begins), bool(said), len(questions), ended) == (True, bool(begins), asked, code)
    assert ("error: not started; stop other programs" in said) == bool(code)
