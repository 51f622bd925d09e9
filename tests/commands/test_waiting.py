"""Test the progress messages of commands, and the warning about a busy machine."""

import io
import sys

import pytest
import typer
from rich.console import Console

from loadtests.commands.console import err, look_first, waiting
from loadtests.observe import doctor
from loadtests.observe.top_processes import Taker, Takers


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
