from math import inf, log

import numpy as np
import pytest

from loadtests.analyse.moderated import Noise
from loadtests.analyse.verdicts import Verdict, blocks_needed, verdict
from loadtests.formatting import plus_minus


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
def test_verdict_is_read_from_the_interval(low, high, more_is_better, expected):
    assert verdict(low, high, 0.03, more_is_better) is expected


def of(spread, freedom=9.0):
    return Noise(spread**2, freedom)


def test_noisier_comparisons_need_more_blocks():
    few, many = (blocks_needed(log(1.2), of(spread), 4, 0.03, 4) for spread in (0.04, 0.08))
    assert 4 < few[0] <= few[1] < many[1] < 100


@pytest.mark.parametrize("blocks", [2, 5, 10, 11])
def test_blocks_needed_are_even_and_more_than_there_are(blocks):
    assert all(end > blocks and end % 2 == 0 for end in blocks_needed(log(1.5), of(0.01), blocks, 0.03, 1))


@pytest.mark.parametrize("noise", [of(5.0), of(0.03, freedom=1.0), None])
def test_a_guess_that_nobody_could_plan_by_is_not_given(noise):
    assert blocks_needed(0.0, noise, 4, 0.03, 1) is None


def test_the_range_holds_what_is_needed_in_most_studies():
    # Of a ratio of 1.2 and this noise, 8 blocks of 2 setups settle four studies of five.
    rng = np.random.default_rng(3)
    reported = []
    for _ in range(300):
        values = rng.normal(log(1.2), 0.12, 4)
        reported.append(blocks_needed(float(values.mean()), of(float(values.std(ddof=1)), 3.0), 4, 0.03, 1))
    given = [needed for needed in reported if needed]
    assert len(given) > 30
    assert sum(needed[0] <= 8 <= needed[1] for needed in given) / len(given) > 0.7


def test_plus_minus_is_half_the_width():
    assert plus_minus(1 / 1.02, 1.02) == pytest.approx(0.02)
    assert plus_minus(0.0, inf) == inf
