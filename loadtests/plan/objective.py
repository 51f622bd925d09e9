"""A service-level objective, as people write it: ``p99<50ms``, ``p95<20ms, errors<0.5%``, ``lag p99<100ms,
missing<0.01%`` or ``delay p99<100ms, p99<500ms``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from loadtests.formatting import per_second
from loadtests.plan.percentiles import requests_needed
from loadtests.records.result import PERCENTILES
from loadtests.workload.load import MAX_RATE

PERCENTILE = re.compile(r"(?:(lag|delay)\s+)?p(\d+(?:\.\d+)?)\s*<=?\s*(\d+(?:\.\d+)?)\s*(ms|s)")
SHARE = re.compile(r"(errors|failures|missing)\s*<=?\s*(\d+(?:\.\d+)?)\s*%")
MAX_ERRORS = 0.001
MAX_MISSING = 0.0001
MIN_ANSWERED = 0.99
# What a limit may be of, by its first word.
LIMITED = {"": "response times are", "lag": "the lag of deliveries is", "delay": "the delay of events is"}
PRECISION = 0.03  # the ratio between fail and pass, minus 1


@dataclass(frozen=True)
class Terms:
    """What an objective may be about: what its limits may be ``of``, by the words of LIMITED; and the share of
    deliveries that is ``missing``, which is ``max_missing`` where it is not said. ``example`` is one."""

    example: str
    of: tuple[str, ...] = ("",)
    missing: bool = False
    max_missing: float | None = None


OF_REQUESTS = Terms("p99<50ms, errors<0.1%")
OF_ECHOES = Terms("p99<50ms, missing<0.01%", missing=True)
OF_DELIVERIES = Terms("lag p99<100ms, missing<0.01%", ("lag",), missing=True, max_missing=MAX_MISSING)
OF_STREAMS = Terms("delay p99<100ms, p99<500ms", ("delay", ""))


@dataclass(frozen=True)
class Limit:
    """``percentile`` (99.0 is p99) of the times stays under ``ms``: of response times, from the intended send, or
    ``of`` another word of LIMITED."""

    percentile: float
    ms: float
    of: str = ""

    @property
    def key(self) -> str:
        """The percentile as results name it: p99, p99.9."""
        return f"p{self.percentile:g}"

    @property
    def name(self) -> str:
        """The percentile, and of what: p99, lag p99."""
        return f"{self.of} {self.key}".lstrip()

    @property
    def late_share(self) -> float:
        """The share of the requests that may take longer."""
        return 1 - self.percentile / 100


@dataclass(frozen=True)
class Objective:
    """What must hold over a whole probe; shares are of the planned requests, that which is missing of the deliveries
    that were due."""

    limits: tuple[Limit, ...] = (Limit(99.0, 50.0),)
    max_errors: float = MAX_ERRORS
    min_answered: float = MIN_ANSWERED
    max_missing: float | None = None

    @property
    def requests(self) -> int:
        """How many requests a probe needs to know every percentile that is limited."""
        return max(requests_needed(limit.percentile) for limit in self.limits)

    @property
    def of_lag(self) -> bool:
        """Whether it is about deliveries."""
        return any(limit.of == "lag" for limit in self.limits)

    def __str__(self) -> str:
        limits = ", ".join(f"{limit.name}<{limit.ms:g}ms" for limit in self.limits)
        missing = "" if self.max_missing is None else f", missing<{self.max_missing * 100:g}%"
        return f"{limits}{missing}, errors<{self.max_errors * 100:g}%"


def parse(text: str, terms: Terms = OF_REQUESTS) -> Objective:
    """The objective in ``text``, in its terms. Raises ValueError with the part that is wrong and what would be
    right."""
    limits = []
    shares = {"errors": MAX_ERRORS, "missing": terms.max_missing}
    for part in (part.strip() for part in text.split(",")):
        if match := PERCENTILE.fullmatch(part):
            if (of := match[1] or "") not in terms.of:
                asked = " or ".join(LIMITED[word] for word in terms.of)
                raise ValueError(f"objective: {part!r}: here {asked} limited; write for example {terms.example!r}")
            limits.append(_limit(part, float(match[2]), float(match[3]) * (1000 if match[4] == "s" else 1), of))
        elif (match := SHARE.fullmatch(part)) and (match[1] != "missing" or terms.missing):
            shares["missing" if match[1] == "missing" else "errors"] = float(match[2]) / 100
        else:
            raise ValueError(f"objective: {part!r} is not a limit; write for example {terms.example!r}")
    if not limits:
        asked = terms.of[0] or "response time"
        raise ValueError(f"objective: {text!r} limits no {asked}; write for example {terms.example.split(',')[0]!r}")
    errors = shares["errors"] or 0.0
    return Objective(tuple(limits), errors, min(MIN_ANSWERED, 1 - errors), shares["missing"])


def _limit(part: str, percentile: float, ms: float, of: str) -> Limit:
    if not 0 < percentile < 100 or ms <= 0:
        raise ValueError(f"objective: {part!r}: a percentile is between 0 and 100, a time over 0")
    limit = Limit(percentile, ms, of)
    if limit.key not in PERCENTILES:
        raise ValueError(f"objective: {limit.key} is not measured; allowed: {', '.join(PERCENTILES)}")
    return limit


@dataclass(frozen=True)
class SearchPlan:
    """How to search for the highest rate. Rates are in ``unit``; durations of short and long
    probes in seconds; ``precision`` is the ratio between fail and pass, minus 1.

    A probe that would hold fewer than ``requests`` (or what else it ``counts``) is lengthened until it holds as many,
    up to ``longest_s``: where fewer would do, a percentile would be judged by a handful of requests. ``max_s`` is how
    long the whole search may take, None where it may take as long as it does. ``unit`` is what its rates are in;
    ``whole``: only whole numbers are asked, as of users.

    Raises ValueError where it makes no sense.
    """

    start_rate: float = 100.0
    max_rate: float = 100_000.0
    min_rate: float = 1.0
    precision: float = PRECISION
    short_s: float = 2.0
    long_s: float = 30.0
    max_probes: int = 60
    requests: int = 0
    longest_s: float = 600.0
    max_s: float | None = None
    counts: str = "requests"
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
                f"capacity: a probe at {per_second(self.first_rate)} {self.unit} and one that confirms it take "
                f"{shortest_s:g} s, and {self.max_s:g} s are allowed"
            )

    @property
    def lowest_rate(self) -> float:
        """The lowest rate at which a probe can hold the requests that it needs."""
        return max(self.min_rate, self.requests / self.longest_s)

    @property
    def first_rate(self) -> float:
        return max(min(self.start_rate, self.max_rate), self.lowest_rate)

    def probe_s(self, rate: float, shortest_s: float, share: float = 1.0) -> float:
        """How long a probe of a rate takes that is to take ``shortest_s`` or longer, and to hold at least that share of
        the requests."""
        return max(shortest_s, math.ceil(10 * share * self.requests / rate - 1e-6) / 10)

    def rounded(self, rate: float) -> float:
        """The rate that is tried next: a whole number where only those are."""
        return max(1.0, float(round(rate))) if self.whole else rate

    def between(self, below: float, above: float) -> float | None:
        """A rate to ask between one that passed and one that did not; None where they are near enough."""
        if below * (1 + self.precision) >= above:
            return None
        rate = self.rounded(math.sqrt(below * above))
        return rate if below < rate < above else None

    def require_knowable(self) -> None:
        """Raises ValueError where the first probe would be too short to know the percentiles, however long it took."""
        asked = min(self.start_rate, self.max_rate)
        if asked < self.lowest_rate:
            raise ValueError(
                f"objective: its percentile needs {self.requests:,} {self.counts} in a probe, which at {asked:g} "
                f"{self.unit} take over {self.longest_s:g} s. Begin at {self.lowest_rate:.3g} {self.unit} or "
                f"more, or limit a lower percentile: p90 needs a tenth of what p99 does"
            )
