from math import inf, log, nan

import pytest

from loadtests.analyse.verdicts import MOST_BLOCKS, Verdict, blocks_needed, verdict
from loadtests.words import plus_minus


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
def test_verdict_is_read_from_the_interval(low: float, high: float, more_is_better: bool, expected: Verdict) -> None:
    assert verdict(low, high, 0.03, more_is_better) is expected


def test_noisier_comparisons_need_more_blocks() -> None:
    few = blocks_needed(log(1.1), 0.04, 4, 0.03, 4)
    many = blocks_needed(log(1.1), 0.08, 4, 0.03, 4)
    assert few is not None
    assert many is not None
    assert 4 < few < many < 100


def test_blocks_needed_is_even_and_more_than_there_are() -> None:
    for blocks in (2, 5, 10, 11):
        needed = blocks_needed(log(1.5), 0.01, blocks, 0.03, 1)
        assert needed is not None
        assert needed > blocks
        assert needed % 2 == 0


def test_no_difference_is_settled_by_fitting_within_delta() -> None:
    assert blocks_needed(0.0, 0.03, 4, 0.03, 1) == blocks_needed(0.0, 0.06, 4, 0.0609, 1)


def test_hopeless_comparisons_say_the_most() -> None:
    assert blocks_needed(0.0, 5.0, 4, 0.03, 1) == MOST_BLOCKS


def test_unknown_spread_says_nothing() -> None:
    assert blocks_needed(0.1, nan, 1, 0.03, 1) is None


def test_plus_minus_is_half_the_width() -> None:
    assert plus_minus(1 / 1.02, 1.02) == pytest.approx(0.02)
    assert plus_minus(0.0, inf) == inf
