"""How long an origin takes, as quantile functions: a chance from 0 to 1 gives a latency, so that a seed decides all."""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist
from typing import Protocol

MOST_S = 3600.0

_NORMAL = NormalDist()
_Z99 = _NORMAL.inv_cdf(0.99)
_LEAST_CHANCE = 2.0**-53  # of 0 the normal distribution has no quantile


class Distribution(Protocol):
    """A latency: always the same, or drawn."""

    def at(self, chance: float) -> float:
        """The latency, in seconds, that the share ``chance`` of all is below."""

    def told(self) -> str:
        """It in milliseconds, for a person."""


@dataclasses.dataclass(frozen=True)
class Constant:
    """Always the same, in seconds."""

    seconds: float

    def at(self, chance: float) -> float:
        return self.seconds

    def told(self) -> str:
        return _ms(self.seconds)


@dataclasses.dataclass(frozen=True)
class Uniform:
    """Anything between two times, in seconds, with equal chances."""

    low: float
    high: float

    def at(self, chance: float) -> float:
        return self.low + (self.high - self.low) * chance

    def told(self) -> str:
        return f"{_ms(self.low)}..{_ms(self.high)}"


@dataclasses.dataclass(frozen=True)
class Lognormal:
    """A lognormal distribution by its median and its 99th percentile, in seconds: most are quick, a few are very slow.

    No latency is over ``MOST_S``.
    """

    median: float
    p99: float

    def at(self, chance: float) -> float:
        sigma = math.log(self.p99 / self.median) / _Z99
        exponent = sigma * _NORMAL.inv_cdf(max(chance, _LEAST_CHANCE))
        return min(self.median * math.exp(min(exponent, 100.0)), MOST_S)

    def told(self) -> str:
        return f"lognormal, median {_ms(self.median)}, p99 {_ms(self.p99)}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.10g}"
