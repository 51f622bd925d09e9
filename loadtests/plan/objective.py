"""A service-level objective, as people write it: ``p99<50ms`` or ``p95<20ms, errors<0.5%``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from loadtests.plan.percentiles import requests_needed
from loadtests.records.result import PERCENTILES
from loadtests.words import per_second
from loadtests.workload.load import MAX_RATE

PERCENTILE = re.compile(r"p(\d+(?:\.\d+)?)\s*<=?\s*(\d+(?:\.\d+)?)\s*(ms|s)")
ERRORS = re.compile(r"(?:errors|failures)\s*<=?\s*(\d+(?:\.\d+)?)\s*%")
MAX_ERRORS = 0.001
MIN_ANSWERED = 0.99


@dataclass(frozen=True)
class Limit:
    """``percentile`` (99.0 is p99) of the response times, from the intended send, stays under ``ms``."""

    percentile: float
    ms: float

    @property
    def key(self) -> str:
        """The percentile as results name it: p99, p99.9."""
        return f"p{self.percentile:g}"

    @property
    def late_share(self) -> float:
        """The share of the requests that may take longer."""
        return 1 - self.percentile / 100


@dataclass(frozen=True)
class Objective:
    """What must hold over a whole probe; shares are of the planned requests."""

    limits: tuple[Limit, ...] = (Limit(99.0, 50.0),)
    max_errors: float = MAX_ERRORS
    min_answered: float = MIN_ANSWERED

    @property
    def requests(self) -> int:
        """How many requests a probe needs to know every percentile that is limited."""
        return max(requests_needed(limit.percentile) for limit in self.limits)

    def __str__(self) -> str:
        limits = ", ".join(f"{limit.key}<{limit.ms:g}ms" for limit in self.limits)
        return f"{limits}, errors<{self.max_errors * 100:g}%"


def parse(text: str) -> Objective:
    """The objective in ``text``. Raises ValueError with the part that is wrong and what would be right."""
    limits = []
    max_errors = MAX_ERRORS
    for part in (part.strip() for part in text.split(",")):
        if match := PERCENTILE.fullmatch(part):
            limits.append(_limit(part, float(match[1]), float(match[2]) * (1000 if match[3] == "s" else 1)))
        elif match := ERRORS.fullmatch(part):
            max_errors = float(match[1]) / 100
        else:
            raise ValueError(f"objective: {part!r} is not a limit; write for example 'p99<50ms, errors<0.1%'")
    if not limits:
        raise ValueError(f"objective: {text!r} limits no response time; write for example 'p99<50ms'")
    return Objective(tuple(limits), max_errors, min(MIN_ANSWERED, 1 - max_errors))


def _limit(part: str, percentile: float, ms: float) -> Limit:
    if not 0 < percentile < 100 or ms <= 0:
        raise ValueError(f"objective: {part!r}: a percentile is between 0 and 100, a time over 0")
    limit = Limit(percentile, ms)
    if limit.key not in PERCENTILES:
        raise ValueError(f"objective: {limit.key} is not measured; allowed: {', '.join(PERCENTILES)}")
    return limit


@dataclass(frozen=True)
class SearchPlan:
    """How to search for the highest rate. Rates in requests per second, durations of short and long probes in seconds;
    ``precision`` is the ratio between fail and pass, minus 1.

    A probe that would hold fewer than ``requests`` is lengthened until it holds as many, up to ``longest_s``: where
    fewer would do, a percentile would be judged by a handful of requests. ``max_s`` is how long the whole search may
    take, None where it may take as long as it does. ``unit`` is what its rates are in; ``whole``: only whole numbers
    are asked, as of users.

    Raises ValueError where it makes no sense.
    """

    start_rate: float = 100.0
    max_rate: float = 100_000.0
    min_rate: float = 1.0
    precision: float = 0.03
    short_s: float = 5.0
    long_s: float = 30.0
    max_probes: int = 60
    requests: int = 0
    longest_s: float = 600.0
    max_s: float | None = None
    unit: str = "requests/s"
    whole: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.min_rate <= self.start_rate:
            raise ValueError(f"capacity: the start rate, {self.start_rate:g}, must be at least {self.min_rate:g}")
        if not self.min_rate <= self.max_rate <= MAX_RATE:  # true for NaN as well
            allowed = f"{self.min_rate:g} to {MAX_RATE:,.0f} is allowed"
            raise ValueError(f"capacity: the highest rate is {self.max_rate:g}; from {allowed}")
        if self.precision <= 0:
            raise ValueError(f"capacity: the precision, {self.precision:g}, must be over 0")
        shortest_s = self.probe_s(self.first_rate, self.short_s) + self.probe_s(self.first_rate, self.long_s)
        if self.max_s is not None and self.max_s < shortest_s:
            raise ValueError(
                f"capacity: a probe at {per_second(self.first_rate)} requests/s and one that confirms it take "
                f"{shortest_s:g} s, and {self.max_s:g} s are allowed"
            )

    @property
    def lowest_rate(self) -> float:
        """The lowest rate at which a probe can hold the requests that it needs."""
        return max(self.min_rate, self.requests / self.longest_s)

    @property
    def first_rate(self) -> float:
        """The rate of the first probe."""
        return max(min(self.start_rate, self.max_rate), self.lowest_rate)

    def probe_s(self, rate: float, shortest_s: float) -> float:
        """How long a probe of a rate takes that is to take ``shortest_s`` or longer."""
        return max(shortest_s, math.ceil(10 * self.requests / rate - 1e-6) / 10)

    def asked(self, rate: float) -> float:
        """The rate that is asked where that would be the next one."""
        return max(1.0, float(round(rate))) if self.whole else rate

    def between(self, below: float, above: float) -> float | None:
        """A rate to ask between one that passed and one that did not; None where they are near enough."""
        if below * (1 + self.precision) >= above:
            return None
        rate = self.asked(math.sqrt(below * above))
        return rate if below < rate < above else None

    def require_knowable(self) -> None:
        """Raises ValueError where the first probe would be too short to know the percentiles, however long it took."""
        asked = min(self.start_rate, self.max_rate)
        if asked < self.lowest_rate:
            raise ValueError(
                f"objective: its percentile needs {self.requests:,} requests in a probe, which at {asked:g} requests/s "
                f"take over {self.longest_s:g} s. Begin at {self.lowest_rate:.3g} requests/s or more, or limit a lower "
                f"percentile: p90 needs {requests_needed(90)} requests"
            )
