"""supervisord on this machine: what it says where it does not start."""

import os
import sys

import pytest

from loadtests import hosts
from loadtests.cleanup import program
from loadtests.cleanup.program import public_environment
from loadtests.errors import UserError


def test_what_it_said_is_told_and_its_folder_is_removed():
    supervised = hosts.at("local").supervise({"KEEP_ALIVE": "99"})
    with (
        pytest.raises(UserError, match=r"^supervisord did not start: defaults.sh: KEEP_ALIVE may be 1 to 60"),
        supervised,
    ):
        pass
    assert not supervised.folder.exists()


def test_what_users_sign_in_with_is_not_for_what_is_served(monkeypatch):
    monkeypatch.setenv("JOURNEY_PASSWORD", "hunter2")
    monkeypatch.setenv("JOURNEYS", "kept")
    env = public_environment(os.environ)
    assert (env.get("JOURNEY_PASSWORD"), env["JOURNEYS"]) == (None, "kept")
    told = program.run([sys.executable, "-c", "import os; print(os.environ.get('JOURNEY_PASSWORD'))"], 60.0)
    assert told.printed.strip() == "None"
