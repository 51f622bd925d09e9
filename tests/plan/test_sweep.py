"""Sweeps: a table of knobs and their values becomes the entries of a study."""

import pytest

from loadtests.errors import UserError
from loadtests.plan import study, sweep

TESTS = {"throughput": {"duration": "1s"}}


def parse(**table):
    return study.parse({"sweep": table, "tests": TESTS}, "s", "s.toml")


def test_every_combination_is_an_entry_the_first_knob_slowest():
    found = parse(setup="gunicorn", WORKERS=[1, 2], THREADS=[1, 4])
    assert [entry.label for entry in found.entries] == ["1w-1t", "1w-4t", "2w-1t", "2w-4t"]
    assert found.entries[3].env == {"WORKERS": "2", "THREADS": "4"}
    assert {entry.setup for entry in found.entries} == {"gunicorn"}
    assert found.baseline == "1w-1t"


def test_other_knobs_are_named_and_what_does_not_vary_is_not():
    found = parse(setup="gunicorn", WORKERS=[2], BACKLOG=[128, 2048], GUNICORN_CMD_ARGS=["--preload", "--reuse-port"])
    assert [entry.label for entry in found.entries][:2] == [
        "BACKLOG=128-GUNICORN_CMD_ARGS=--preload",
        "BACKLOG=128-GUNICORN_CMD_ARGS=--reuse-port",
    ]
    assert {entry.env["WORKERS"] for entry in found.entries} == {"2"}
    assert found.sweep.swept.keys() == {"BACKLOG", "GUNICORN_CMD_ARGS"}


def test_cells_in_words_and_as_an_environment():
    found = parse(setup="gunicorn", WORKERS=[1, 2], THREADS=[1, 4], X=["64", "1 2"]).sweep
    assert found.words({"WORKERS": "1", "THREADS": "4", "X": "64"}) == "1 worker × 4 threads × X=64"
    assert sweep.environment({"WORKERS": "2", "X": "1 2"}) == "WORKERS=2 X='1 2'"


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"WORKERS": [1, 2]}, r"s.toml: sweep.setup: is missing"),
        ({"setup": 1, "WORKERS": [1, 2]}, r"sweep.setup: 1; a setup is needed"),
        ({"setup": "gunicorn"}, r"sweep: nothing varies"),
        ({"setup": "gunicorn", "WORKERS": [1]}, r"sweep: nothing varies"),
        ({"setup": "gunicorn", "WORKERS": 2}, r"sweep.WORKERS: is 2; a list of values is needed"),
        ({"setup": "gunicorn", "WORKERS": []}, r"sweep.WORKERS: is \[\]"),
        ({"setup": "gunicorn", "WORKERS": [1, 1]}, r"sweep.WORKERS: holds a value more than once"),
        ({"setup": "gunicorn", "WORKERS": [True]}, r"sweep.WORKERS: True is neither a number nor a text"),
        (
            {"setup": "gunicorn", "WORKERS": [1, 2], "workers": [3]},
            r"sweep.workers: is neither a knob.*; allowed: setup",
        ),
        (
            {"setup": "gunicorn", "WORKERS": [1, 0]},
            r"sweep.env.WORKERS: is .0.; a whole number from 1 to 1024",
        ),
        ({"setup": "gunicorn", "X": [1, 10**5000]}, r"sweep.X: a number of thousands of digits is neither a number"),
        (
            {"setup": "gunicorn", "WORKERS": list(range(1, 2000)), "THREADS": list(range(1, 2000))},
            r"s.toml: sweep: 3,996,001 combinations; 1,000 are allowed",
        ),
        ({"setup": "gunicorn", "PORT": [8000, 8001]}, r"sweep.env.PORT: is the same for the whole run"),
    ],
)
def test_a_mistake_gets_one_line(table, says):
    with pytest.raises(UserError, match=says):
        parse(**table)


def test_a_study_has_setups_or_a_sweep():
    table = {"setups": ["gunicorn"], "sweep": {"setup": "gunicorn", "WORKERS": [1, 2]}, "tests": TESTS}
    with pytest.raises(UserError, match="is given together with sweep"):
        study.parse(table, "s", "s.toml")


def test_two_cells_with_one_label_are_refused():
    with pytest.raises(UserError, match="two have the label"):
        parse(setup="gunicorn", X=["a b", "a  b"])
