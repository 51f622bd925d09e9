"""A machine for the servers whose Python is another one: too old, or not the one that is here."""

import sys

import pytest

from tests.fixtures.other_machine import VENV, needs_git

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

# Plays another version of itself, as far as those who ask can see.
TOO_OLD = """#!/bin/sh
shift
exec {python} -c 'import sys; code = sys.argv[1]; sys.version_info = (3, 9, 18); exec(code)' "$@"
"""
OTHER = """#!/bin/sh
export PYTHONPATH="{folder}"
exec {python} "$@"
"""
SAYS = 'import platform\nplatform.python_version = lambda: "3.99.1"\n'


def written(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)
    return file


@pytest.fixture(autouse=True)
def git():
    needs_git()


def test_a_python_that_is_too_old_is_said_in_a_line(command, other_machine, tmp_path):
    python = written(tmp_path / "bin" / "python3.9", TOO_OLD.format(python=sys.executable))
    code, _, errors = command("hosts", "prepare", other_machine.where, "--python", python)
    assert code == 1
    said = "Python 3.10 or newer is needed; this is 3.9. Try: make PYTHON=python3.12"
    assert errors.strip().splitlines()[-1] == f"error: {other_machine.where}: {said}"
    assert not (other_machine.files / "marker.json").exists()


def test_a_python_that_is_not_there_is_said_in_a_line(command, other_machine):
    code, _, errors = command("hosts", "prepare", other_machine.where, "--python", "python3.99")
    assert code == 1
    last = errors.strip().splitlines()[-1]
    assert last.startswith(f"error: {other_machine.where}: ")
    assert "python3.99" in last
    assert not (other_machine.files / "marker.json").exists()


def test_another_version_is_warned_of(command, other_machine, tmp_path):
    written(tmp_path / "says" / "sitecustomize.py", SAYS)
    venv = tmp_path / "venv"
    written(venv / "bin" / "python", OTHER.format(folder=tmp_path / "says", python=VENV / "bin" / "python"))
    code, printed, errors = command("hosts", "prepare", other_machine.where, "--venv", venv)
    assert code == 0, errors
    warned = " ".join(printed.split())
    assert "Python 3.99.1 there, " in warned
    assert "hosts prepare --python PATH takes another" in warned
