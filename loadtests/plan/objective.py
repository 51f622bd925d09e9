"""Parse service-level objectives, such as ``p99<50ms``, ``p95<20ms, errors<0.5%`` or ``delay p99<100ms, p99<500ms``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from loadtests.plan.percentiles import requests_needed
from loadtests.workload.load import MAX_RATE

PERCENTILE = re.compile(r"(?:(lag|delay)\s+)?p(50|90|95|99|99\.9)\s*<=?\s*(\d+(?:\.\d+)?)\s*(ms|s)")
SHARE = re.compile(r"(errors|failures|missing)\s*<=?\s*(\d+(?:\.\d+)?)\s*%")
MAX_ERRORS = 0.001
MAX_MISSING = 0.0001
MIN_ANSWERED = 0.99
PRECISION = 0.03  # the final ratio between the lowest failed rate and the highest passed rate, minus 1


@dataclass(frozen=True)
class Terms:
    """The possible limits of an objective.

    Args:
        example: An example of an objective.
        of: The times to which limits can apply: lag (of deliveries), delay (of events), or empty (response times).
        missing: Whether the share of missing deliveries can be limited.
        max_missing: The default limit on the share of missing deliveries.
    """

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
    """A limit in ms for a percentile. For p99, ``percentile`` is 99.0. ``of`` is the kind of time (see ``Terms``)."""

    percentile: float
    ms: float
    of: str = ""

    @property
    def key(self) -> str:
        """The percentile's name in results, such as p99 or p99.9."""
        return f"p{self.percentile:g}"

    @property
    def name(self) -> str:
        """The percentile's name with the kind of time, such as p99 or lag p99."""
        return f"{self.of} {self.key}".lstrip()

    @property
    def late_share(self) -> float:
        """The share of the requests that may take longer than the limit."""
        return 1 - self.percentile / 100


@dataclass(frozen=True)
class Objective:
    """The conditions that a complete probe must meet.

    Shares are relative to the planned requests. Only the missing share is relative to the deliveries that were due.
    """

    limits: tuple[Limit, ...] = (Limit(99.0, 50.0),)
    max_errors: float = MAX_ERRORS
    min_answered: float = MIN_ANSWERED
    max_missing: float | None = None

    @property
    def requests(self) -> int:
        """The number of requests that a probe needs to determine all limited percentiles."""
        return max(requests_needed(limit.percentile) for limit in self.limits)

    @property
    def of_lag(self) -> bool:
        """Whether the objective limits the lag of deliveries."""
        return any(limit.of == "lag" for limit in self.limits)

    def __str__(self) -> str:
        limits = ", ".join(f"{limit.name}<{limit.ms:g}ms" for limit in self.limits)
        missing = "" if self.max_missing is None else f", missing<{self.max_missing * 100:g}%"
        return f"{limits}{missing}, errors<{self.max_errors * 100:g}%"


def parse(text: str, terms: Terms = OF_REQUESTS) -> Objective:
    """Parse an objective.

    Raises:
        ValueError: If a part isn't a limit that ``terms`` allows. The text contains the part and an example.
    """
    limits = []
    shares = {"errors": MAX_ERRORS, "missing": terms.max_missing}
    for part in (part.strip() for part in text.split(",")):
        limit, share = PERCENTILE.fullmatch(part), SHARE.fullmatch(part)
        if limit and (limit[1] or "") in terms.of and float(limit[3]) > 0:
            ms = float(limit[3]) * (1000 if limit[4] == "s" else 1)
            limits.append(Limit(float(limit[2]), ms, limit[1] or ""))
        elif share and (share[1] != "missing" or terms.missing):
            shares["missing" if share[1] == "missing" else "errors"] = float(share[2]) / 100
        else:
            raise ValueError(f"objective: {part!r} is not a valid limit. Write, for example, {terms.example!r}")
    if not limits:
        raise ValueError(f"objective: {text!r} must limit a percentile. Write, for example, {terms.example!r}")
    errors = shares["errors"] or 0.0
    return Objective(tuple(limits), errors, min(MIN_ANSWERED, 1 - errors), shares["missing"])


@dataclass(frozen=True)
class SearchPlan:
    """The plan of a search for the highest rate. Rates are in ``unit`` and durations in seconds.

    A probe that would have fewer than ``requests`` takes longer, up to ``longest_s``, because a percentile can't be
    determined from only a few requests.

    Args:
        start_rate: The rate of the first probe.
        max_rate: The highest rate.
        min_rate: The lowest rate.
        precision: The final ratio between the lowest failed rate and the highest passed rate, minus 1.
        short_s: The duration of a short probe.
        long_s: The duration of a confirming probe.
        max_probes: The maximum number of probes.
        requests: The number of requests, or of other units such as deliveries, that a probe needs.
        longest_s: The maximum duration of a probe.
        unit: The unit of rates, such as ``requests/s``.
        whole: Whether rates are whole numbers, such as numbers of users.

    Raises:
        ValueError: If the values contradict each other.
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
    unit: str = "requests/s"
    whole: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.min_rate <= self.start_rate:
            raise ValueError(f"start_rate: must be at least {self.min_rate:g}, not {self.start_rate:g}")
        if not self.min_rate <= self.max_rate <= MAX_RATE:  # also true for NaN
            allowed = f"from {self.min_rate:g} to {MAX_RATE:,.0f}"
            raise ValueError(f"max_rate: must be {allowed}, not {self.max_rate:g}")
        if self.max_rate < self.lowest_rate:
            raise ValueError(f"max_rate: the objective's percentile needs at least {self.lowest_rate:.3g} {self.unit}")

    @property
    def lowest_rate(self) -> float:
        """The lowest rate at which a probe can have enough requests."""
        return max(self.min_rate, self.requests / self.longest_s)

    @property
    def first_rate(self) -> float:
        return max(min(self.start_rate, self.max_rate), self.lowest_rate)

    def probe_s(self, rate: float, shortest_s: float, share: float = 1.0) -> float:
        """Return the seconds that a probe needs for this share of its requests, but at least ``shortest_s``."""
        return max(shortest_s, math.ceil(10 * share * self.requests / rate - 1e-6) / 10)

    def rounded(self, rate: float) -> float:
        """Round a rate if only whole numbers are possible."""
        return max(1.0, float(round(rate))) if self.whole else rate

    def between(self, below: float, above: float) -> float | None:
        """Return a rate between a passed and a failed rate, or None if their ratio is within the precision."""
        if below * (1 + self.precision) >= above:
            return None
        rate = self.rounded(math.sqrt(below * above))
        return rate if below < rate < above else None
