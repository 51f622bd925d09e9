"""Test study and sweep files, and their errors."""

import pytest

from loadtests.errors import UserError
from loadtests.plan import study, sweep

GOOD = """
setups = ["gunicorn", {setup = "gunicorn", label = "two", env = {WORKERS = 2}}]
[tests.latency]
rate = 300
duration = "10s"
"""
TESTS = {"throughput": {"duration": "1s"}}


@pytest.fixture
def load(tmp_path):
    """Return a function that replaces a text in a study file and returns the study."""

    def load(old="", new=""):
        file = tmp_path / "mine.toml"
        file.write_text(GOOD.replace(old, new))
        return study.load(str(file))

    return load


def parsed(**table):
    return study.parse(table, "s", "s.toml")


def test_study_file_defines_the_run(load):
    found = load()
    assert found.name == found.title == "mine"
    assert [(entry.label, entry.setup, entry.env) for entry in found.entries] == [
        ("gunicorn", "gunicorn", {}),
        ("two", "gunicorn", {"WORKERS": "2"}),
    ]
    [test] = found.tests
    assert (test.tag, test.pace.rate, test.pace.duration_s, test.engine) == ("latency", 300, 10, "openloop")
    assert found.baseline == "gunicorn"


@pytest.mark.parametrize("name", study.names())
def test_shipped_studies_are_valid(name):
    assert study.load(name).name == name


def test_warmup_or_second_block_is_optional(load):
    [cold] = load("rate", "warmup = 0\nrate").tests
    assert (cold.warmup_s, cold.quick().warmup_s) == (0, 0)
    short = load("setups", "quick_blocks = 1\nsetups")
    assert (short.quick().blocks, short.blocks) == (1, 2)


LONG, VAST = "a" * 400, f"0x{'f' * 5000}"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("rate = 300", "rate = -1", r"tests.latency.rate: must be a number above 0, not -1"),
        ("rate = 300", 'rate = "fast"', r"tests.latency.rate: must be 'auto', not 'fast'"),
        ("[tests.latency]", "[tests.fast]", r"tests.fast.kind: must be one of .*[^']$"),
        ("rate", 'kind = "speed"\nrate', r"tests.latency.kind: must be one of .*, not 'speed'$"),
        ("[tests.latency]", f"[tests.{LONG}]", r"tests: contains an invalid name. It must be 1 to 90 letters"),
        ('label = "two", ', "", r"two setups have the label 'gunicorn'"),
        ('"two"', f'"{LONG}"', r"setups\[2\].label: must be 1 to 90 letters.*, not 'a+..."),
        ('"two"', r'"\u001b[31m"', r"setups\[2\].label: must be 1 to 90 letters.*, not '\\x1b\[31m'"),
        ('"two"', '"two", against = "two"', r"against: 'two' can't be compared with itself"),
        ('"two"', '"two", against = "x"', r"against: 'x' is not one of the setups \(gunicorn, two\)"),
        (
            "setups",
            "blocks = 6000\nsetups",
            r"2 setups × 1 test × 6,000 blocks make 12,000 trials. A run can have at most",
        ),
        ("setups", f"blocks = {'9' * 5000}\nsetups", r"mine.toml: not valid TOML: "),
        ("setups", 'baseline = "nginx"\nsetups', r"baseline: 'nginx' is not one of the setups \(gunicorn, two\)"),
    ],
)
def test_mistake_is_a_clear_error(load, old, new, says):
    with pytest.raises(UserError, match=says) as error:
        load(old, new)
    assert "\n" not in str(error.value)


def swept(**table):
    return parsed(sweep={"setup": "gunicorn", **table}, tests=TESTS)


def test_sweep_contains_every_combination():
    found = swept(WORKERS=[1, 2], THREADS=[1, 4])
    assert [entry.label for entry in found.entries] == ["1w-1t", "1w-4t", "2w-1t", "2w-4t"]
    assert found.entries[3].env == {"WORKERS": "2", "THREADS": "4"}
    assert {entry.setup for entry in found.entries} == {"gunicorn"}
    assert found.baseline == "1w-1t"


def test_labels_contain_only_varied_knobs():
    found = swept(WORKERS=[2], BACKLOG=[128, 2048], X=["64", "1 --two"])
    assert [entry.label for entry in found.entries][:2] == ["BACKLOG=128-X=64", "BACKLOG=128-X=1---two"]
    assert {entry.env["WORKERS"] for entry in found.entries} == {"2"}
    assert found.sweep.swept.keys() == {"BACKLOG", "X"}
    words = swept(WORKERS=[1, 2], THREADS=[1, 4], X=["64", "1 2"]).sweep.words
    assert words({"WORKERS": "1", "THREADS": "4", "X": "64"}) == "1 worker × 4 threads × X=64"
    assert sweep.environment({"WORKERS": "2", "X": "1 2"}) == "WORKERS=2 X='1 2'"


MANY = list(range(1, 2000))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"setup": 1}, r"sweep\[...\]: must be a text or a list"),
        ({}, r"sweep: must have 2 to 1,000 combinations of values, not 1"),
        ({"WORKERS": "2"}, r"sweep.WORKERS: must be a knob with several values, as in WORKERS = \[1, 2\]"),
        ({"WORKERS": [1, 0]}, r"sweep.env.WORKERS: must be a whole number from 1 to 1024, not '0'"),
        ({"WORKERS": MANY, "THREADS": MANY}, r"sweep: must have 2 to 1,000 combinations of values, not 3,996,001"),
        ({"PORT": [8000, 8001]}, r"sweep.env.PORT: applies to the whole run"),
    ],
)
def test_sweep_mistake_is_clear_error(table, says):
    with pytest.raises(UserError, match=f"^s.toml: {says}"):
        swept(**table)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"tests": TESTS}, "setups: is missing. Add a list of setups"),
        ({"tests": TESTS, "setups": []}, "setups: must be a list that is not empty"),
        (
            {"tests": TESTS, "setups": ["gunicorn"], "sweep": {"setup": "gunicorn", "X": [1, 2]}},
            "setups: can't be comb",
        ),
        ({"tests": {}, "setups": ["gunicorn"]}, "tests: must be a table, not {}"),
    ],
)
def test_study_needs_setups_with_tests(table, says):
    with pytest.raises(UserError, match=f"^s.toml: {says}"):
        parsed(**table)
