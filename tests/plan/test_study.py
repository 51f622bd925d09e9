import dataclasses
import re

import pytest

from loadtests.errors import UserError
from loadtests.plan import study
from loadtests.plan.schedule import planned_seconds, within

GOOD = """
setups = ["gunicorn", {setup = "gunicorn", label = "two", env = {WORKERS = 2}}]
[tests.latency]
rate = 300
duration = "10s"
"""


def write(tmp_path, text):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    return str(file)


def test_a_study_file_becomes_setups_tests_and_blocks(tmp_path):
    found = study.load(write(tmp_path, GOOD))
    assert found.name == found.title == "mine"
    assert [(entry.label, entry.setup, entry.env) for entry in found.entries] == [
        ("gunicorn", "gunicorn", {}),
        ("two", "gunicorn", {"WORKERS": "2"}),
    ]
    [test] = found.tests
    assert (test.kind.name, test.pace.rate, test.pace.duration_s, test.engine) == ("latency", 300, 10, "openloop")
    assert found.baseline == "gunicorn"


@pytest.mark.parametrize("name", study.names())
def test_the_studies_that_come_with_the_project_are_valid(name):
    assert study.load(name).name == name


def test_a_test_can_do_without_a_warm_up_and_a_study_with_one_quick_block(tmp_path):
    cold = GOOD.replace("[tests.latency]", "[tests.latency]\nwarmup = 0")
    found = study.load(write(tmp_path, f"quick_blocks = 1\n{cold}"))
    assert (found.tests[0].warmup_s, found.tests[0].quick().warmup_s) == (0, 0)
    assert (found.quick().blocks, found.blocks) == (1, 2)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("rate = 300", "rats = 300", r"mine.toml: tests.latency.rats: is not a key here; did you mean rate"),
        ("rate = 300", "rate = 300\nrats = 1", r"tests.latency.rats: is not a key here; .*allowed: .*rate"),
        ("rate = 300", "rate = -1", r"tests.latency.rate: is -1; a number above 0"),
        ("rate = 300", "rate = nan", r"tests.latency.rate: is nan"),
        ("rate = 300", 'rate = "fast"', r"tests.latency.rate: is 'fast'; a number above 0 or 'auto' is needed"),
        ('"10s"', '"10 parsecs"', r"tests.latency.duration: '10 parsecs' is not a duration; write 10s"),
        ('"10s"', '"0s"', r"not a usable duration"),
        ("[tests.latency]", "[tests.fast]", r"tests.fast.kind: is missing"),
        ("[tests.latency]", "[tests.latency]\nservices = [1]", r"tests.latency.services\[1\]: is 1; a text"),
        ("[tests.latency]", "[tests.latency]\npath = 'x'", r"path: is 'x'; it must begin with '/'"),
        ('label = "two", ', "", r"two have the label 'gunicorn'"),
        ('"two"', '"t w o"', r"setups\[2\].label: 't w o'"),
        ('"two"', f'"{"a" * 400}"', r"setups\[2\].label: 'a+...; 1 to 80 letters"),
        ('"two"', r'"\u001b[31m"', r"setups\[2\].label: '\\x1b\[31m'; 1 to 80 letters"),
        ("[tests.latency]", f"[tests.{'a' * 400}]", r"1 to 80 letters, .* are allowed in a test's name"),
        ("setups =", f"x = {'[' * 5000}\nsetups =", r"not valid TOML: lists or tables are nested too deeply"),
        ("setups =", "blocks = 0\nsetups =", r"blocks: is 0; a whole number from 1 to 10,000 is needed"),
        ("setups =", "blocks = 100000000000\nsetups =", r"blocks: is 100000000000; a whole number from 1 to 10,000 is"),
        (
            "setups =",
            "blocks = 6000\nsetups =",
            r"2 setups × 1 test × 6,000 blocks are 12,000 trials; a run may have",
        ),
        (
            "setups =",
            f"blocks = 0x{'f' * 5000}\nsetups =",
            r"blocks: is a number of thousands of digits; a whole number",
        ),
        ("setups =", f"blocks = {'9' * 5000}\nsetups =", r"mine.toml: not valid TOML: "),
        ("rate = 300", f"rate = {'9' * 400}", r"tests.latency.rate: is 9+...; a number above 0"),
        ("rate = 300", "rate = 300\nstatus = 99999999999999999999", r"latency.status: is 9+; a whole number from 200"),
        ('"10s"', '"0.00001ms"', r"between 1ms and a week is"),
        ('"10s"', "1e300", r"duration: is 1e\+300; a duration such as"),
        ('"10s"', f"0x{'f' * 5000}", r"tests.latency.duration: is a number of thousands of digits; a duration such as"),
        ("setups =", "blocks = true\nsetups =", r"blocks: is True; a whole number"),
        ("setups =", 'baseline = "nginx"\nsetups =', r"baseline: 'nginx' is not one of the setups \(gunicorn, two\)"),
        (
            'label = "two"',
            'label = "two", against = "two"',
            r"setups\[2\].against: is 'two'; one of the other setups is .*gunicorn",
        ),
        ('label = "two"', 'label = "two", against = "three"', r"setups\[2\].against: is 'three'; one of the other"),
        ("setups =", "colour = 1\nsetups =", r"colour: is not a key here; allowed: .*baseline"),
        ("setups =", "setups", r"not valid TOML"),
    ],
)
def test_a_mistake_gets_one_line_with_file_key_and_what_is_allowed(tmp_path, old, new, says):
    with pytest.raises(UserError, match=says) as error:
        study.load(write(tmp_path, GOOD.replace(old, new)))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("minutes", "blocks"), [(5, 5), (5.9, 5), (6, 6), (2, 2)])
def test_minutes_make_as_many_blocks_as_fit(tmp_path, minutes, blocks):
    """Of two setups in one test that takes half a minute."""
    fitted = within(half(tmp_path), minutes)
    assert fitted.blocks == blocks
    assert planned_seconds(fitted) <= 60 * minutes


def half(tmp_path):
    """A study whose trials take half a minute."""
    found = study.load(write(tmp_path, GOOD.replace('"10s"', '"25.3s"')))
    return dataclasses.replace(found, interleave=False)


@pytest.mark.parametrize(
    ("minutes", "says"),
    [
        (1.9, "--minutes 1.9: 2 blocks of mine take 2, and one tells nothing of noise; try --minutes 2"),
        (0, "--minutes 0: 2 blocks of mine take 2, "),
        (-1, "--minutes -1: from 0 to 10,080 is allowed"),
        (float("nan"), "--minutes nan: from 0 to 10,080 is allowed"),
        (10_000, "--minutes 10000: 2 setups × 1 test × 10,000 blocks are 20,000 trials; a run may have 10,000"),
    ],
)
def test_minutes_that_cannot_be_get_one_line(tmp_path, minutes, says):
    with pytest.raises(UserError, match=re.escape(says)) as error:
        within(half(tmp_path), minutes)
    assert "\n" not in str(error.value)
