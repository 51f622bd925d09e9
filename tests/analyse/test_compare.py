"""Test comparisons between the setups of a run: ratios, verdicts, noise and the rules of ``--fail-if``."""

from dataclasses import replace
from math import exp, inf, log

import numpy as np
import pytest

from loadtests.analyse.compare.rows import Rule
from loadtests.analyse.compare.within import compare, estimates, noise_floors, widest_interval
from loadtests.analyse.verdicts import Verdict, verdict
from loadtests.errors import UserError


@pytest.mark.parametrize(
    ("low", "high", "more_is_better", "expected"),
    [
        (1.05, 1.15, False, Verdict.SLOWER),
        (1.05, 1.15, True, Verdict.FASTER),
        (0.85, 0.95, False, Verdict.FASTER),
        (0.85, 0.95, True, Verdict.SLOWER),
        (0.98, 1.02, False, Verdict.EQUIVALENT),
        (1.005, 1.02, False, Verdict.EQUIVALENT),
        (0.95, 1.02, False, Verdict.INCONCLUSIVE),
        (0.0, inf, True, Verdict.INCONCLUSIVE),
        (1.0, 1.0, True, Verdict.EQUIVALENT),
    ],
)
def test_verdict_depends_on_the_interval(low, high, more_is_better, expected):
    assert verdict(low, high, 0.03, more_is_better) is expected


def test_each_candidate_has_ratio_and_verdict(study):
    slower, faster = compare(study({"gunicorn": 10.0, "daphne": 20.0, "uvicorn": 8.0}), "gunicorn")
    assert (slower.candidate, slower.verdict) == ("daphne", Verdict.SLOWER)
    assert (faster.candidate, faster.verdict) == ("uvicorn", Verdict.FASTER)
    assert slower.ratio == pytest.approx(2.0, rel=0.05)
    assert slower.low < slower.ratio < slower.high
    assert slower.family == faster.family == 2


def test_drift_between_blocks_cancels(study):
    # Blocks differ by 10%, and trials within a block by 0.5%, so the ratio is much more accurate than either value.
    observations = study({"a": 10.0, "b": 10.0}, sd=0.005)
    (found,) = compare(observations, "a")
    assert found.verdict is Verdict.EQUIVALENT
    assert all(one.high / one.low > 1.05 for one in estimates(observations))


def test_one_block_is_inconclusive(study):
    (found,) = compare(study({"a": 10.0, "b": 30.0}, blocks=1), "a")
    assert (found.verdict, found.low, found.high) == (Verdict.INCONCLUSIVE, 0.0, inf)


@pytest.mark.parametrize(
    ("valid", "blocks", "verdict"),
    [
        pytest.param(lambda one: one.label == "a" or one.block not in (2, 5), 8, Verdict.SLOWER, id="a few missing"),
        pytest.param(lambda one: (one.label == "a") == (one.block <= 5), 0, Verdict.INCONCLUSIVE, id="none in common"),
    ],
)
def test_block_without_both_trials_is_omitted(study, valid, blocks, verdict):
    (found,) = compare(filter(valid, study({"a": 10.0, "b": 20.0})), "a")
    assert (found.blocks, found.verdict) == (blocks, verdict)


def test_noise_is_estimated_from_all_setups(study):
    observations = study({"a": 10.0, "b": 12.0, "c": 10.0, "d": 10.0, "e": 10.0}, blocks=4)
    (by_two,) = compare([one for one in observations if one.label in "ab"], "a")
    (by_all,) = compare(observations, "a", candidates=["b"])
    assert (by_two.method, by_all.method) == ("student", "moderated")
    assert by_all.ratio == pytest.approx(by_two.ratio)
    assert by_all.family == 1


def test_shared_noise_widens_intervals(study):
    by_block = np.random.default_rng(2).normal(0, 0.1, 6)
    observations = [
        replace(one, value=one.value * exp(by_block[one.block - 1])) if one.label in "def" else one
        for one in study(dict.fromkeys("abcdef", 10.0), blocks=6)
    ]
    widths = {one.candidate: log(one.high / one.low) for one in compare(observations, "a")}
    assert min(widths[label] for label in "def") > 1.5 * max(widths[label] for label in "bc")


def test_differences_within_noise_floor_are_marked(study):
    observations = study({"a": 10.0, "again": 10.0, "near": 10.01, "far": 20.0}, sd=0.03)
    found = {one.candidate: one.inside_noise for one in compare(observations, "a", aa="again")}
    assert found == {"near": True, "far": False}
    (floor,) = noise_floors(observations, "a", "again")
    assert floor.low < 1 < floor.high
    assert floor.blocks == 10


def test_more_blocks_shrink_the_widest_interval(study):
    def widest(blocks, **noise):
        return widest_interval(compare(study({"a": 10.0, "b": 11.0, "c": 12.0}, blocks=blocks, **noise), "a"))

    assert 0.02 > widest(24) > 0
    assert widest(8) > widest(24)
    assert widest(7, sd=1e-6) == inf  # a few blocks can agree by chance
    assert widest_interval([]) == inf


def test_block_with_zero_value_is_omitted(study):
    observations = [replace(one, value=0.0) if one.block == 1 else one for one in study({"a": 1.0, "b": 1.0})]
    (found,) = compare(observations, "a")
    assert found.blocks == 9


def test_duplicate_observation_is_refused(study):
    with pytest.raises(ValueError, match="block 1 occurs twice"):
        compare(study({"a": 1.0}) * 2, "a")


def test_comparison_rules_are_parsed():
    assert Rule.parse("slower>5%") == Rule(False, 0.05)
    assert Rule.parse(" slower > 2.5 % ") == Rule(False, 0.025)
    assert Rule.parse("failures") == Rule(True, 0.0)
    for text in ("", "slower>5", "slower<5%", "equivalent"):
        with pytest.raises(UserError, match="slower>5%"):
            Rule.parse(text)


def test_only_significant_slowdowns_beyond_threshold_fail(study):
    found = compare(study({"a": 10.0, "much": 12.0, "little": 10.7, "less": 8.0}, sd=0.005), "a")
    assert [one.candidate for one in found if Rule.parse("slower>10%").is_broken_by(one)] == ["much"]
    assert [one.candidate for one in found if Rule.parse("slower>5%").is_broken_by(one)] == ["much", "little"]
