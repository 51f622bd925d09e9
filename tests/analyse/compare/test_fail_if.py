import pytest

from loadtests.analyse.compare.fail_if import Rule, failures, parse
from loadtests.analyse.compare.within import compare
from loadtests.analyse.verdicts import Verdict


def test_rules_are_read():
    assert parse("slower>5%") == Rule(Verdict.SLOWER, 0.05)
    assert parse(" faster > 2.5 % ") == Rule(Verdict.FASTER, 0.025)
    assert parse("failures>1%") == Rule(None, 0.01)
    assert parse("slower") == Rule(Verdict.SLOWER, 0.0)


@pytest.mark.parametrize("text", ["", "slower>5", "slower<5%", "equivalent", "5%"])
def test_wrong_rules_say_what_is_allowed(text):
    with pytest.raises(ValueError, match="slower>5%"):
        parse(text)


def test_only_sure_slowdowns_beyond_the_threshold_fail(study):
    found = compare(study({"a": 10.0, "much": 12.0, "little": 10.7, "less": 8.0}, sd=0.005), "a")
    assert [one.candidate for one in failures(parse("slower>10%"), found)] == ["much"]
    assert [one.candidate for one in failures(parse("slower>5%"), found)] == ["much", "little"]
    assert [one.candidate for one in failures(parse("faster>5%"), found)] == ["less"]
