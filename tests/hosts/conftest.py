"""Provide prepared machines: network namespaces, and this machine under other names."""

import contextlib
import json

import pytest

from tests.fixtures.command import command_line
from tests.fixtures.other_machine import VENV, OtherMachine, needs_git, trials


@pytest.fixture
def study(request, tmp_path):
    """Return a function that writes the test module's STUDY to a file, with given values and the module's DEFAULTS."""

    def study(**values):
        file = tmp_path / "study.toml"
        file.write_text(request.module.STUDY.format(**{**request.module.DEFAULTS, **values}))
        return file

    return study


@pytest.fixture
def folder(tmp_path):
    """Return the path of the run folder."""
    return tmp_path / "run"


@pytest.fixture
def measured(away, study, folder):
    """Return a function that runs the study with command-line options and values for STUDY.

    The function returns the output, the content of run.json, and the trials.
    """

    def measured(*options, **values):
        options = (*options, "--output", folder, "--ignore-busy")
        code, printed, errors = away.run("run", study(**values), *options, timeout=250)
        away.wait_until_nothing_runs()
        assert code == 0, errors  # unverified figures are allowed, because other tests use the machine
        return " ".join(printed.split()), json.loads((folder / "run.json").read_text()), trials(folder)

    return measured


@pytest.fixture(scope="module")
def machines(request, tmp_path_factory):
    """Provide other machines, and prepare the machines in the test module's PREPARED."""
    needs_git()
    made = OtherMachine(tmp_path_factory.mktemp("home"))
    with command_line() as cli:
        cli.env.update(made.environment)
        for where in request.module.PREPARED:
            code, _, errors = cli.run("hosts", "prepare", where, "--venv", VENV)
            assert code == 0, errors
        cli.wait_until_nothing_runs()
    return made


@pytest.fixture
def away(cli, machines):
    """Return the fixture ``cli`` with the environment variables for the other machines."""
    cli.env.update(machines.environment)
    return cli


@pytest.fixture
def at_hand(command, machines, monkeypatch):
    """Return the fixture ``command`` with the environment variables for the other machines.

    The commands run in the test's process, so they must not leave a connection open.
    """
    for name, value in machines.environment.items():
        monkeypatch.setenv(name, value)
    return command


@pytest.fixture
def changed():
    """Return a context manager that adds a line to a file, and removes it at the end."""

    @contextlib.contextmanager
    def changed(file):
        before = file.read_text()
        file.write_text(f"{before}\n")
        try:
            yield
        finally:
            file.write_text(before)

    return changed


@pytest.fixture(scope="module")
def pair(two_machines):
    """Start a client and a servers' machine, and prepare the servers' machine."""
    needs_git()
    code, _, errors = two_machines.run("hosts", "prepare", two_machines.where, "--venv", VENV)
    assert code == 0, errors
    return two_machines


@pytest.fixture(scope="module")
def second(pair):
    """Provide the client, the servers' machine, and a second prepared client."""
    pair.add_client()
    code, _, errors = pair.run("hosts", "prepare", pair.second, "--venv", VENV)
    assert code == 0, errors
    return pair
