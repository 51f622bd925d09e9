"""The command that compares."""

import dataclasses

import pytest
from typer.testing import CliRunner

from loadtests.cli import app, main

LABELS = ("gunicorn", "daphne", "uvicorn")


def slower(*labels, times=1.2):
    """Makes the setups of these labels that much slower."""

    def change(label, test, block, result):
        if label not in labels:
            return result
        later = {key: value * times for key, value in result.response_time_ms.items()}
        return dataclasses.replace(result, response_time_ms=later, service_time_ms=later, rate=result.rate / times)

    return change


@pytest.fixture
def two(build_run):
    """A run, and one of a day later in which uvicorn is a fifth slower."""
    first = build_run(labels=LABELS, blocks=6)
    second = build_run(labels=LABELS, blocks=6, name="2026-11-22-first-look", change=slower("uvicorn"))
    return first.path, second.path


def test_the_command_prints_and_ends_with_1_where_the_rule_says_so(two, capsys):
    result = CliRunner().invoke(app, ["compare", *map(str, two), "--fail-if", "slower>5%"])
    assert result.exit_code == 1
    assert CliRunner().invoke(app, ["compare", *map(str, two), "--fail-if", "slower>30%"]).exit_code == 0


def one_line(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("sys.argv", ["loadtests", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr()
    assert ended.value.code == 1
    assert told.err.count("\n") == 1
    return told.err


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
def test_wrong_input_gets_one_line(two, monkeypatch, capsys, arguments, says):
    assert says in one_line(monkeypatch, capsys, "compare", two[0], *arguments)
