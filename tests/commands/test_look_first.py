"""What takes the cores is said before anything is started; where there is somebody to ask, they are asked."""

import sys

import pytest
import typer

from loadtests.commands.console import err, look_first
from loadtests.measure import doctor
from loadtests.observe.top_processes import Taker, Takers


@pytest.fixture
def look(monkeypatch, capsys):
    """Looks at a machine on which this is taken, at a terminal or not; returns what was said, asked, and the exit."""

    def run(takers, anyway=False, terminal=True, answer=True):
        asked = []
        monkeypatch.setattr(doctor.top_processes, "watch", lambda rest: takers)
        monkeypatch.setattr(doctor.top_processes.psutil, "cpu_count", lambda: 2)
        monkeypatch.setattr(type(err), "is_terminal", terminal)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: terminal, raising=False)
        monkeypatch.setattr(typer, "confirm", lambda *given, **options: asked.append(given) or answer)
        code = 0
        try:
            look_first(err, anyway)
        except SystemExit as ended:
            code = ended.code
        return " ".join(capsys.readouterr().err.split()), len(asked), code

    return run


LOOP = Takers((Taker("python", 7, 0.99),))


def test_who_takes_the_cores_is_said_with_what_it_costs_and_asked(look):
    said, asked, code = look(LOOP)
    assert said.startswith(
        "busy: 50% of the cores are busy already; just now the cores are taken by python (pid 7, 99% of a core). While"
    )
    assert (asked, code) == (1, 0)


def test_who_does_not_want_to_go_on_has_nothing_begun(look):
    said, asked, code = look(LOOP, answer=False)
    assert (asked, code) == (1, 1)
    assert "error: not begun; stop other programs" in said


@pytest.mark.parametrize("given", [{"anyway": True}, {"terminal": False}])
def test_it_goes_on_where_nobody_is_to_be_asked(look, given):
    said, asked, code = look(LOOP, **given)
    assert said.startswith("busy: ")
    assert (asked, code) == (0, 0)


def test_a_quiet_machine_is_not_spoken_of(look):
    assert look(Takers((Taker("python", 7, 0.1),))) == ("", 0, 0)
