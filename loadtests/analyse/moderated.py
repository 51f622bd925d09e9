"""How noisy is each setup? Of a few blocks it cannot say by itself, but the other setups ran on the same machine.

The logarithm of a figure is setup plus block plus noise, and each setup has a noise of its own. What two setups differ
by in a block holds the noise of both and nothing of the block, so the variances of all such differences give each
setup's own (Grubbs, *On estimating precision of measuring instruments and product variability*, Journal of the American
Statistical Association 43, 1948). With four blocks these are guesses. So each is moderated towards the common one, as
is done for thousands of genes measured on a few chips: as if more degrees of freedom had been seen of the common
variance, the more so the more alike the setups' own are (Smyth, *Linear models and empirical Bayes methods for
assessing differential expression in microarray experiments*, Statistical Applications in Genetics and Molecular Biology
3, 2004).

Two things keep the noisy one, be it the baseline, from borrowing the others' calm: these degrees of freedom are capped,
at what the blocks alone give at most, and of the own variance and the moderated one the larger counts. One common
variance for all would make studies with a noisy baseline wrong three times as often as is promised.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import special

from loadtests.analyse import trimmed
from loadtests.analyse.trimmed import SAME, Array

# Two blocks have one degree of freedom, and two setups cannot be told which of them is the noisy one.
LEAST_BLOCKS = 3
LEAST_SETUPS = 3
# What the others' noise may weigh at most, in degrees of freedom; with few blocks less. With more, simulated studies
# of a baseline that is three times noisier are wrong in 6 to 8% of cases instead of 5%.
MOST_PRIOR = 4.0
# Variances far below the typical one say nothing of how much they differ (as in limma).
FLOOR = 1e-4


@dataclass(frozen=True)
class Noise:
    """The variance of one trial's logarithm, and the degrees of freedom by which it is known."""

    variance: float
    freedom: float


def noises(values: Array, alike: Collection[int] = ()) -> list[Noise | None]:
    """The noise of each row; ``values`` are logarithms, setups x blocks, not finite where there is none.

    The rows ``alike`` are one setup and share one noise. None where it cannot be told: the row or too many of the
    others have too few blocks, or all figures rise and fall together to the last digit.
    """
    known: list[Noise | None] = [None] * len(values)
    rows = [row for row, own in enumerate(values) if np.isfinite(own).sum() >= LEAST_BLOCKS]
    if len(rows) < LEAST_SETUPS:
        return known
    own = _own_variances(values[rows])
    if own is None or own.mean() <= SAME**2:
        return known
    count = len(rows)
    blocks = np.isfinite(values[rows]).sum(axis=1)
    # A setup's part in differences to the others is known a little worse than its sum with them.
    freedoms = np.array([trimmed.scale(int(one)).freedom for one in blocks]) * (count - 2) / (count - 1)
    prior, common = _prior(own, float(np.mean(freedoms)), min(float(np.median(blocks)) - 2, MOST_PRIOR))
    own = np.maximum(own, 0.0)
    together = [place for place, row in enumerate(rows) if row in alike]
    if together:
        own[together], freedoms[together] = own[together].mean(), freedoms[together].sum()
    moderated = (prior * common + freedoms * own) / (prior + freedoms)
    for row, variance, freedom in zip(rows, np.maximum(own, moderated), prior + freedoms, strict=True):
        known[row] = Noise(float(variance), float(freedom))
    return known


def _own_variances(values: Array) -> Array | None:
    """Each row's own variance, unbiased and so now and then negative; None where the pairs do not tell them all."""
    count = len(values)
    pairs = list(combinations(range(count), 2))
    below, above = (list(side) for side in zip(*pairs, strict=True))
    sums = _variances(values[above] - values[below])
    design = np.zeros((len(pairs), count))
    design[np.arange(len(pairs)), below] = design[np.arange(len(pairs)), above] = 1.0
    seen = np.isfinite(sums)
    found, _, rank, _ = np.linalg.lstsq(design[seen], sums[seen], rcond=None)
    return np.asarray(found, dtype=np.float64) if rank == count else None


def _variances(differences: Array) -> Array:
    """The variance of each row, by the sample with its outermost drawn in where there are blocks enough for that."""
    finite = np.isfinite(differences)
    if finite.all():
        return _variance(differences)
    found = np.full(len(differences), np.nan)
    for row, (own, there) in enumerate(zip(differences, finite, strict=True)):
        if there.sum() >= LEAST_BLOCKS:
            found[row] = _variance(own[there])
    return found


def _variance(values: Array) -> Array:
    count = values.shape[-1]
    errors = trimmed.centre(values, trimmed.cut_of(count))[1]
    variance: Array = errors**2 / trimmed.scale(count).of_error
    return variance


def _prior(own: Array, freedom: float, most: float) -> tuple[float, float]:
    """What the common variance weighs, in degrees of freedom, and how large it is.

    The more the setups' variances differ, beyond what so few degrees of freedom make them differ, the less it weighs:
    by the spread of their logarithms (Smyth, section 6.2).
    """
    count = len(own)
    # As the residuals of setup plus block have it, which is never negative.
    seen = ((count - 2) * own + own.mean()) / (count - 1)
    logs = np.log(np.maximum(seen, FLOOR * max(float(np.median(seen)), SAME**2)))
    excess = float(logs.var(ddof=1)) - float(special.polygamma(1, freedom / 2))
    prior = min(2 * _trigamma_inverse(excess), most) if excess > 0 else most
    return prior, float(own.mean())


def _trigamma_inverse(value: float) -> float:
    """The number whose trigamma function is ``value``, by Newton's method (Smyth, appendix)."""
    found = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, found))
        step = trigamma * (1 - trigamma / value) / float(special.polygamma(2, found))
        found += step
        if -step / found < 1e-8:
            break
    return found
