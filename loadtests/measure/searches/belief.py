"""Combine all probes into a Bayesian estimate of the capacity, the highest rate that meets the objective.

Adaptive estimation of a threshold is an old problem in psychophysics. This module uses QUEST (Watson and Pelli, *QUEST:
a Bayesian adaptive psychometric method*, Perception & Psychophysics 33, 1983) with a model of queues:

- The share of late requests grows exponentially with the rate, as ``exp(slope * (rate / capacity - 1))``. Only the
  magnitude of the slope is known in advance. With a slope of 4, the queue is half empty at the capacity. With a slope
  of 256, the share rises like a cliff.
- The share grows until all requests are late, at the rate of a server that never pauses. Overloaded probes show this
  rate. This rate and the capacity determine the slope, for any service times (heavy traffic: Kingman,
  *The single server queue in heavy traffic*, 1961). Real servers follow this rule only roughly.
- Late requests come in clumps, because a long queue stays long for a while. A steeper slope means a fuller queue and
  longer clumps. In heavy traffic, a queue is a Brownian motion with a drift, so the slope and the limit determine the
  length of clumps (Aldous, *Probability Approximations via the Poisson Clumping Heuristic*, 1989). The model therefore
  counts clumps instead of late requests.
- The speed of the machine differs slightly between probes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from loadtests.measure.searches.judge import Judgement, Outcome, Tail

Array = NDArray[np.float64]

STEP = 0.004  # the logarithm of the ratio between neighbouring rates of the grid
SLOPES = np.geomspace(4, 256, 10)
SPEED_SD = 0.01  # the standard deviation of the machine's speed between probes, as a share
# The results of overloaded probes determine the slope. SLOPE_SD is the standard deviation of the slope's logarithm. The
# number of answers in an overload varies by VARIES times the square root of the number. The capacity may exceed the
# rate of answers in an overload by the share OVER. NEVER is the weight of capacities that contradict the overload. The
# weight isn't 0, so that other probes can correct a wrong conclusion.
SLOPE_SD, VARIES, OVER, NEVER = 0.4, 2.0, 0.05, 0.01
MIN_ROOM = 0.02  # the minimum distance between the capacity and the server's speed, as a share of the capacity
OVERLOADED = 0.9  # the maximum share of answered requests in an overload
# With more late requests than this multiple of the allowed number, a queue grows, and its length depends on the
# duration of the probe.
MAX_LATE = 10.0
# With fewer late requests than this multiple of the allowed number, late requests may be isolated and show little about
# clumps.
SINGLE = 0.5
# The probability that a probe's outcome is wrong, if a limit on response times didn't decide the outcome.
WRONG, WRONG_IF_CLEAR = 0.15, 0.02
NEAR = 0.35  # the distance between the capacity and the middle of the bracket, as the logarithm of their ratio
DOUBT = 0.15  # the probability that the result of short probes doesn't apply to long probes


class Belief:
    """The probabilities of all capacities and slopes on a grid."""

    def __init__(self, lowest: float, highest: float) -> None:
        self._logs = np.arange(log(lowest) - NEAR, log(highest) + NEAR, STEP)
        self._weights: Array = np.full((len(SLOPES), len(self._logs)), 1.0)
        self._normalise()

    def expect(self, rate: float) -> None:
        """Give more weight to capacities near the expected capacity."""
        self._weights *= np.exp(-abs(self._logs - log(rate)) / NEAR)
        self._normalise()

    def add(self, rate: float, judgement: Judgement) -> None:
        """Add the result of a probe."""
        if judgement.clear or judgement.tail is None or not judgement.tail.allowed:
            seen = self._of_outcome(rate, judgement)
        else:
            seen = self._of_tail(rate, judgement.tail)
        self._weights *= _smoothed(seen)
        self._normalise()

    def overloaded(self, rate: float, judgements: Sequence[Judgement]) -> None:
        """Add the share of answered requests in probes above the capacity. Ignore the probes if no queue grew."""
        tails = [one.tail for one in judgements if one.tail]
        sent, answered = sum(tail.sent for tail in tails), sum(tail.answered for tail in tails)
        allowed, late = sum(tail.allowed for tail in tails), sum(tail.late for tail in tails)
        if not allowed or late <= MAX_LATE * allowed or not 0 < answered <= OVERLOADED * sent:
            return
        rarity = log(sent / allowed)
        seen = np.zeros_like(self._weights)
        for deviation in np.linspace(-2, 2, 9):
            speed = log(rate * answered / sent) + deviation * VARIES / answered**0.5
            room = np.expm1(speed - self._logs)
            off = np.log(SLOPES[:, None] * np.maximum(room, MIN_ROOM) / rarity) / SLOPE_SD
            seen += np.exp(-0.5 * (deviation**2 + off**2 + (np.minimum(room, 0.0) / OVER) ** 2))
        self._weights *= seen / seen.max() + NEVER
        self._normalise()

    def doubt(self) -> None:
        """Reduce the weight of earlier results, in case later probes contradict them."""
        near = np.exp(-abs(self._logs - log(self.capacity)) / NEAR)
        near = near / near.sum() * self._weights.sum(axis=1, keepdims=True)
        self._weights = (1 - DOUBT) * self._weights + DOUBT * near
        self._normalise()

    @property
    def capacity(self) -> float:
        """The estimated capacity, which is the median."""
        found = int(np.searchsorted(np.cumsum(self._by_rate), 0.5))
        return float(np.exp(self._logs[min(found, len(self._logs) - 1)]))

    @property
    def spread(self) -> float:
        """Half the width of the capacity's 68% interval, as a share of the capacity.

        For a normal distribution, this is the standard deviation.
        """
        cumulated = np.cumsum(self._by_rate)
        return float(np.count_nonzero((cumulated > 0.16) & (cumulated <= 0.84))) * STEP / 2

    def rate_with(self, late: float) -> float:
        """Return the rate at which the number of late requests is about ``late`` times the allowed number."""
        by_slope: Array = self._weights.sum(axis=1)
        slope = float(np.exp(by_slope @ np.log(SLOPES)))
        return self.capacity * (1 + log(late) / slope)

    @property
    def _by_rate(self) -> Array:
        weights: Array = self._weights.sum(axis=0)
        return weights

    def _of_outcome(self, rate: float, judgement: Judgement) -> Array:
        wrong = WRONG_IF_CLEAR if judgement.clear else WRONG
        passes = (self._logs >= log(rate)) == (judgement.outcome is Outcome.PASS)
        return np.broadcast_to(np.where(passes, 1 - wrong, wrong), self._weights.shape)

    def _of_tail(self, rate: float, tail: Tail) -> Array:
        most = min(MAX_LATE * tail.allowed, tail.sent)
        slopes = SLOPES[:, None]
        rise = np.minimum(slopes * np.expm1(log(rate) - self._logs), log(most / tail.allowed))
        expected = tail.allowed * np.exp(rise)
        rarity = log(tail.sent / tail.allowed)
        clump = 1 + 4 * tail.within / rarity * (1 + slopes / rarity)
        count = min(tail.late, most) / clump
        logs = count * np.log(np.maximum(expected, 1e-9) / clump) - expected / clump - gammaln(count + 1)
        if tail.late:
            logs -= np.log(clump) * (1.0 if tail.late >= SINGLE * tail.allowed else 0.5)
        likelihood: Array = np.exp(logs - logs.max())
        return likelihood

    def _normalise(self) -> None:
        self._weights = self._weights / self._weights.sum()


def _smoothed(seen: Array) -> Array:
    """Smooth a likelihood, because the machine's speed varies, and raise it above 0 everywhere."""
    reach = np.arange(-4 * SPEED_SD, 4.01 * SPEED_SD, STEP)
    kernel = np.exp(-0.5 * (reach / SPEED_SD) ** 2)
    kernel /= kernel.sum()
    edge = len(kernel) // 2
    padded = np.pad(seen, ((0, 0), (edge, edge)), mode="edge")
    return np.array([np.convolve(row, kernel, mode="valid") for row in padded]) + 1e-6
