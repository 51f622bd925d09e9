"""The command that compares."""

import pytest


def test_the_command_ends_with_1_where_the_rule_says_so(two, command):
    assert command("compare", *two, "--fail-if", "slower>5%")[0] == 1
    assert command("compare", *two, "--fail-if", "slower>30%")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "name a second run, or two setups or more of this one: --setups gunicorn,daphne"),
        (["--setups", "gunicorn"], "name a second run, or two setups"),
        (
            ["--setups", "gunicorn,uvicron"],
            "unknown setup in 2026-11-21-first-look 'uvicron'; did you mean uvicorn or gunicorn?",
        ),
        (["nothing"], "nothing is not a run folder (does not exist)"),
        (["--setups", "gunicorn,daphne", "--fail-if", "slow"], "--fail-if 'slow' is not a rule"),
    ],
)
def test_wrong_input_gets_one_line(two, refused, arguments, says):
    assert says in refused("compare", two[0], *arguments)
