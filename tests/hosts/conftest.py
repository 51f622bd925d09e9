"""Machines in namespaces that were prepared."""

import pytest

from loadtests.files import ROOT
from tests.fixtures.other_machine import VENV, needs_git


@pytest.fixture(scope="module")
def pair(two_machines):
    """Two machines, of which the servers' was prepared."""
    needs_git()
    code, _, errors = two_machines.run("hosts", "prepare", two_machines.where, "--venv", VENV)
    assert code == 0, errors
    return two_machines


@pytest.fixture(scope="module")
def second(pair):
    """Both, and a second client that was prepared."""
    home = pair.add_client()
    code, _, errors = pair.run("hosts", "prepare", pair.second, "--venv", VENV)
    assert code == 0, errors
    (home / ".django-serving-benchmark" / "tree" / "node_modules").symlink_to(ROOT / "node_modules")
    return pair
