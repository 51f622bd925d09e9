"""Parse service-level objectives, such as ``p99<50ms``, ``p95<20ms, errors<0.5%`` or ``delay p99<100ms, p99<500ms``."""

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
# The times to which a limit can apply, by the first word of the limit.
LIMITED = {"": "response times", "lag": "the lag of deliveries", "delay": "the delay of events"}
PRECISION = 0.03  # the final ratio between the lowest failed rate and the highest passed rate, minus 1


@dataclass(frozen=True)
class Terms:
    """The possible limits of an objective.

    Args:
        example: An example of an objective.
        of: The times to which limits can apply (keys of LIMITED).
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
    """A limit in ms for a percentile. For p99, ``percentile`` is 99.0. ``of`` is the kind of time, a key of LIMITED."""

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
        if match := PERCENTILE.fullmatch(part):
            if (of := match[1] or "") not in terms.of:
                asked = " or ".join(LIMITED[word] for word in terms.of)
                raise ValueError(f"objective: {part!r}: limit only {asked}, for example {terms.example!r}")
            limits.append(_limit(part, float(match[2]), float(match[3]) * (1000 if match[4] == "s" else 1), of))
        elif (match := SHARE.fullmatch(part)) and (match[1] != "missing" or terms.missing):
            shares["missing" if match[1] == "missing" else "errors"] = float(match[2]) / 100
        else:
            raise ValueError(f"objective: {part!r} is not a limit. Write for example {terms.example!r}")
    if not limits:
        asked = terms.of[0] or "response time"
        raise ValueError(f"objective: {text!r} must limit the {asked}, for example {terms.example.split(',')[0]!r}")
    errors = shares["errors"] or 0.0
    return Objective(tuple(limits), errors, min(MIN_ANSWERED, 1 - errors), shares["missing"])


def _limit(part: str, percentile: float, ms: float, of: str) -> Limit:
    if not 0 < percentile < 100 or ms <= 0:
        raise ValueError(f"objective: {part!r}: the percentile must be between 0 and 100, and the time above 0")
    limit = Limit(percentile, ms, of)
    if limit.key not in PERCENTILES:
        raise ValueError(f"objective: {limit.key} is not measured. Allowed: {', '.join(PERCENTILES)}")
    return limit


@dataclass(frozen=True)
class SearchPlan:
    """The plan of a search for the highest rate. Rates are in ``unit`` and durations in seconds.

    A probe that would have fewer than ``requests`` takes longer, up to ``longest_s``, because a percentile can't be
    determined from a handful of requests.

    Args:
        start_rate: The rate of the first probe.
        max_rate: The highest rate.
        min_rate: The lowest rate.
        precision: The final ratio between the lowest failed rate and the highest passed rate, minus 1.
        short_s: The duration of a short probe.
        long_s: The duration of a confirming probe.
        max_probes: The maximum number of probes.
        requests: The number of requests, or of the units in ``counts``, that a probe needs.
        longest_s: The maximum duration of a probe.
        max_s: The maximum duration of the search, or None for no limit.
        counts: The name of the units that a probe needs, such as ``requests``.
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
    max_s: float | None = None
    counts: str = "requests"
    unit: str = "requests/s"
    whole: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.min_rate <= self.start_rate:
            raise ValueError(f"capacity: the start rate, {self.start_rate:g}, must be at least {self.min_rate:g}")
        if not self.min_rate <= self.max_rate <= MAX_RATE:  # also true for NaN
            allowed = f"{self.min_rate:g} to {MAX_RATE:,.0f}"
            raise ValueError(f"capacity: the highest rate must be from {allowed}, not {self.max_rate:g}")
        if self.precision <= 0:
            raise ValueError(f"capacity: the precision, {self.precision:g}, must be above 0")
        shortest_s = self.probe_s(self.first_rate, self.short_s) + self.probe_s(self.first_rate, self.long_s)
        if self.max_s is not None and self.max_s < shortest_s:
            raise ValueError(
                f"capacity: a probe at {per_second(self.first_rate)} {self.unit} and its confirmation take "
                f"{shortest_s:g} s, but only {self.max_s:g} s are allowed. Set a longer --max-time"
            )

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

    def require_knowable(self) -> None:
        """Check that the first probe can have enough requests for the percentiles.

        Raises:
            ValueError: If the first probe would take longer than ``longest_s``.
        """
        asked = min(self.start_rate, self.max_rate)
        if asked < self.lowest_rate:
            raise ValueError(
                f"objective: its percentile needs {self.requests:,} {self.counts} per probe, which take over "
                f"{self.longest_s:g} s at {asked:g} {self.unit}. Start at {self.lowest_rate:.3g} {self.unit} or more, "
                "or limit a lower percentile (p90 needs a tenth of the requests of p99)"
            )
