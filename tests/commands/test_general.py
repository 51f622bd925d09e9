"""What every command has: a short help, and the version before it."""

import re

import pytest


@pytest.mark.parametrize("before", [(), ("run",), ("list",), ("hosts",), ("hosts", "prepare")])
def test_help_is_also_short(command, before):
    code, printed, _ = command(*before, "-h")
    assert (code, printed) == (0, command(*before, "--help")[1])
    assert re.search("--help +-h ", printed)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("workload", "har", "x", "--most", "501"), "'--most': Input should be less than or equal to 500; "),
        (("workload", "har", "x", "--most", "many"), "'--most': Input should be a valid integer"),
        (("workload", "har"), "Missing argument 'file'; "),
        (("run", "--blocks"), "Option '--blocks' requires an argument; "),
        (("run", "a", "b"), "unexpected extra argument(s) (b); "),
        (("run", "--stduy", "x"), "No such option: --stduy"),
        (("rnu",), "No such command 'rnu'"),
    ],
)
def test_what_is_mistyped_gets_one_line(command, arguments, says):
    code, printed, errors = command(*arguments)
    assert (code, printed, errors.count("\n")) == (2, "", 1)
    assert errors.startswith("error: ")
    assert says in errors
    assert " --help` says what there is\n" in errors


def test_without_a_command_the_help_is_shown(command):
    code, printed, errors = command()
    assert (code, errors) == (2, "")
    assert "Usage: " in printed
    assert "profile" in printed


def test_the_version_is_that_of_the_project_and_its_revision(command):
    code, printed, _ = command("--version")
    assert code == 0
    assert re.fullmatch(r"django-serving-benchmark \d+\.\d+\.\d+(, revision [0-9a-f]{12}( with changes)?)?\n", printed)
