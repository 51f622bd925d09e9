"""Parse times in recipes (``0``, ``"50ms"``, ``"1s"``), and represent latencies as quantile functions.

A quantile function converts a chance between 0 and 1 into a latency, so that the seed determines all latencies.
"""

from __future__ import annotations

import dataclasses
import math
import re
from statistics import NormalDist
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta

from loadtests.errors import quoted

MAX_S = 3600.0
_TIME = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ms|s|m)")
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000}

Time = Annotated[str | int | float, Meta(extra={"allowed": 'a time of 0 or more, such as 0, "50ms", "1s" or "2m",'})]

_NORMAL = NormalDist()
_Z99 = _NORMAL.inv_cdf(0.99)
_MIN_CHANCE = 2.0**-53  # the normal distribution has no quantile of 0


class LognormalTimes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A lognormal distribution.

    Half of the requests take less than the median, and one in a hundred requests takes more than the p99.
    """

    median: Time
    p99: Time


class Drawn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A latency from a distribution: most requests are fast, and a few are very slow."""

    lognormal: LognormalTimes


class Distribution(Protocol):
    """A latency, either constant or random."""

    def at(self, chance: float) -> float:
        """Return the latency in seconds that the share ``chance`` of all latencies doesn't exceed."""

    def describe(self) -> str:
        """Describe the latency in milliseconds."""


@dataclasses.dataclass(frozen=True)
class Constant:
    """A constant latency in seconds."""

    seconds: float

    def at(self, chance: float) -> float:
        return self.seconds

    def describe(self) -> str:
        return _ms(self.seconds)


@dataclasses.dataclass(frozen=True)
class Uniform:
    """A uniform distribution between two times in seconds."""

    low: float
    high: float

    def at(self, chance: float) -> float:
        return self.low + (self.high - self.low) * chance

    def describe(self) -> str:
        return f"{_ms(self.low)}..{_ms(self.high)}"


@dataclasses.dataclass(frozen=True)
class Lognormal:
    """A lognormal distribution with this median and 99th percentile in seconds. No latency is above ``MAX_S``."""

    median: float
    p99: float

    def at(self, chance: float) -> float:
        sigma = math.log(self.p99 / self.median) / _Z99
        exponent = sigma * _NORMAL.inv_cdf(max(chance, _MIN_CHANCE))
        return min(self.median * math.exp(min(exponent, 100.0)), MAX_S)

    def describe(self) -> str:
        return f"lognormal, median {_ms(self.median)}, p99 {_ms(self.p99)}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.10g}"


def seconds(value: object, most_s: float = MAX_S) -> float:
    """Parse a time and return it in seconds.

    Raises:
        ValueError: If the value isn't a valid time.
    """
    if not isinstance(value, (bool, str)) and value == 0:
        return 0.0
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f'must be a time of 0 or more, not {quoted(value)}. Examples: 0, "50ms", "1s", "2m"')
    found = float(match[1]) * _MILLISECONDS[match[2]] / 1000
    if found > most_s:
        raise ValueError(f"is {quoted(value)}; at most {most_s / 60:g}m is allowed")
    return found


def distribution(value: object) -> Distribution:
    """Parse a recipe's ``latency``.

    Raises:
        ValueError: If the latency isn't valid.
    """
    if isinstance(value, Drawn):
        median, p99 = seconds(value.lognormal.median), seconds(value.lognormal.p99)
        if not 0 < median < p99:
            raise ValueError("lognormal: the median must be above 0, and p99 must be above the median")
        return Lognormal(median, p99)
    if isinstance(value, str) and ".." in value:
        low, high = (seconds(one) for one in value.split("..", 1))
        if low > high:
            raise ValueError(f"is {quoted(value)}. Write the smaller time first")
        return Uniform(low, high)
    return Constant(seconds(value))
