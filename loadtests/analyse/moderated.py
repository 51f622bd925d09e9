"""Estimate the noise of each setup from few blocks, moderated by the noise of the other setups on the same machine.

In the model, the logarithm of a figure is the sum of a setup's effect, a block's effect and noise. Each setup has its
own noise. The difference of two setups in a block has the noise of both and no block effect, so the variances of all
such differences determine the variance of each setup (Grubbs, *On estimating precision of measuring instruments and
product variability*, Journal of the American Statistical Association 43, 1948). With four blocks, these estimates are
inaccurate, so each estimate is moved towards the common variance. The more similar the variances are, the further the
estimates are moved. The method comes from the analysis of genes that were measured on a few chips (Smyth, *Linear
models and empirical Bayes methods for assessing differential expression in microarray experiments*, Statistical
Applications in Genetics and Molecular Biology 3, 2004).

A noisy setup doesn't benefit from quiet setups: the added degrees of freedom are limited, and the larger of the setup's
own variance and the moderated variance is used. A single variance for all setups would triple the errors of studies
with a noisy baseline.

Setups can also share noise. For example, all ASGI setups may be slower than all WSGI setups in one block, and faster in
the next block. The variance of each setup doesn't contain all of this noise, but the ratios of a pair do. So
``towards`` combines the observed variance of a pair with the variance that its two setups predict.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import special

from loadtests.analyse import trimmed
from loadtests.analyse.trimmed import SAME, Array

MIN_BLOCKS = 3
MIN_SETUPS = 3  # From two setups, only the sum of their noise can be estimated.
# The largest weight of the other setups' noise, in degrees of freedom. With a larger weight, simulated studies whose
# baseline is three times noisier are wrong in 6 to 8% of cases instead of 5%.
MAX_PRIOR = 4.0
# The weight of the prediction for a pair, in degrees of freedom. With 3, simulated studies of four blocks in which two
# families of setups share noise are wrong in more than 5% of cases.
PREDICTION = 2.0
FLOOR = 1e-4  # the share of the median variance to which smaller variances are raised (as in limma)


@dataclass(frozen=True)
class Noise:
    """The variance of the logarithm of a trial's figure, and its degrees of freedom."""

    variance: float
    freedom: float


def towards(observed: Noise, predicted: Noise) -> Noise:
    """Return the observed noise of a pair, moderated towards the noise that its two setups predict."""
    prior = min(predicted.freedom, PREDICTION)
    freedom = prior + observed.freedom
    return Noise((prior * predicted.variance + observed.freedom * observed.variance) / freedom, freedom)


def noises(values: Array, alike: Collection[int] = ()) -> list[Noise | None]:
    """Return the noise of each row of ``values``.

    ``values`` contains logarithms, with a row for each setup and a column for each block. Missing values aren't finite.
    The rows in ``alike`` are copies of one setup, so they share its noise.

    Returns:
        The noise, or None if there are too few blocks or setups, or if the figures of all setups change identically.
    """
    known: list[Noise | None] = [None] * len(values)
    rows = [row for row, own in enumerate(values) if np.isfinite(own).sum() >= MIN_BLOCKS]
    if len(rows) < MIN_SETUPS:
        return known
    own = _own_variances(values[rows])
    if own is None or own.mean() <= SAME**2:
        return known
    count = len(rows)
    blocks = np.isfinite(values[rows]).sum(axis=1)
    # The variance of one setup is estimated slightly less accurately than the variance of a difference between two
    # setups, so it has fewer degrees of freedom.
    freedoms = np.array([trimmed.scale(int(one)).freedom for one in blocks]) * (count - 2) / (count - 1)
    prior, common = _prior(own, float(np.mean(freedoms)), min(float(np.median(blocks)) - 2, MAX_PRIOR))
    own = np.maximum(own, 0.0)
    together = [place for place, row in enumerate(rows) if row in alike]
    if together:
        own[together], freedoms[together] = own[together].mean(), freedoms[together].sum()
    moderated = (prior * common + freedoms * own) / (prior + freedoms)
    for row, variance, freedom in zip(rows, np.maximum(own, moderated), prior + freedoms, strict=True):
        known[row] = Noise(float(variance), float(freedom))
    return known


def _own_variances(values: Array) -> Array | None:
    """Return each row's unbiased variance (possibly negative), or None if the pairs don't determine all variances."""
    count = len(values)
    pairs = list(combinations(range(count), 2))
    below, above = (list(side) for side in zip(*pairs, strict=True))
    sums = _variances(values[above] - values[below])
    design = np.zeros((len(pairs), count))
    design[np.arange(len(pairs)), below] = design[np.arange(len(pairs)), above] = 1.0
    known = np.isfinite(sums)
    found, _, rank, _ = np.linalg.lstsq(design[known], sums[known], rcond=None)
    return np.asarray(found, dtype=np.float64) if rank == count else None


def _variances(differences: Array) -> Array:
    """Return the variance of each row, winsorised if it has enough blocks."""
    finite = np.isfinite(differences)
    if finite.all():
        return _variance(differences)
    found = np.full(len(differences), np.nan)
    for row, (own, there) in enumerate(zip(differences, finite, strict=True)):
        if there.sum() >= MIN_BLOCKS:
            found[row] = _variance(own[there])
    return found


def _variance(values: Array) -> Array:
    count = values.shape[-1]
    errors = trimmed.centre(values, trimmed.cut_of(count))[1]
    variance: Array = errors**2 / trimmed.scale(count).of_error
    return variance


def _prior(own: Array, freedom: float, most: float) -> tuple[float, float]:
    """Return the weight (in degrees of freedom) and the size of the common variance.

    The weight comes from the spread of the log variances (Smyth, 6.2).
    """
    count = len(own)
    # Use the variance of the residuals of an additive model of setup and block, because this variance is never
    # negative.
    observed = ((count - 2) * own + own.mean()) / (count - 1)
    logs = np.log(np.maximum(observed, FLOOR * max(float(np.median(observed)), SAME**2)))
    excess = float(logs.var(ddof=1)) - float(special.polygamma(1, freedom / 2))
    prior = min(2 * _trigamma_inverse(excess), most) if excess > 0 else most
    return prior, float(own.mean())


def _trigamma_inverse(value: float) -> float:
    """Return the number whose trigamma function is ``value``, found by Newton's method (Smyth, appendix)."""
    found = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, found))
        step = trigamma * (1 - trigamma / value) / float(special.polygamma(2, found))
        found += step
        if -step / found < 1e-8:
            break
    return found
