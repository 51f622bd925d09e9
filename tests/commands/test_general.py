"""What every command has: a short help, and the version before it."""

import re

import pytest


@pytest.mark.parametrize("before", [(), ("run",), ("list",), ("results",), ("results", "prune")])
def test_help_is_also_short(command, before):
    code, printed, _ = command(*before, "-h")
    assert (code, printed) == (0, command(*before, "--help")[1])
    assert "-h, --help" in printed


def test_the_version_is_that_of_the_project_and_its_revision(command):
    code, printed, _ = command("--version")
    assert code == 0
    assert re.fullmatch(r"django-serving-benchmark \d+\.\d+\.\d+(, revision [0-9a-f]{12}( with changes)?)?\n", printed)
