"""Search for the highest rate that passes: double, bisect, confirm.

The search is a state machine that doesn't use a clock or start processes. A ``Belief`` combines all probes, selects the
next rate, and decides when the capacity is known well enough.

The caller alternates ``next`` and ``record``::

    search = CapacitySearch(SearchPlan(start_rate=100))
    while isinstance(step := search.next(), Probe):
        search.record(judge(measure(step), objective))
    print(step.sentence)

The steps are a coroutine that yields probes and receives judgements, so the code of the search reads from top to
bottom.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum
from math import inf, sqrt

from loadtests.formatting import per_second, plural
from loadtests.measure.searches.belief import Belief
from loadtests.measure.searches.judge import Judgement, Outcome, settled
from loadtests.plan.objective import SearchPlan


class Purpose(str, Enum):
    DOUBLE = "double"
    BISECT = "bisect"
    CONFIRM = "confirm"


# Bisecting probes are LONGER times as long as short probes, and LONGEST times as long once the spread of the belief is
# at most NARROW.
LONGER, LONGEST = 2, 3
NARROW = 0.1
# Bisecting probes alternate between rates at which the number of late requests should be these multiples of the allowed
# number, because late requests contain the information about the capacity. After a rate near the capacity has passed a
# long probe, every second long probe also uses MORE_LATE.
LATE, MORE_LATE = 1.5, 2.0
# SPREAD, BELOW, ABOVE and HIGHER are multiples of the precision. Bisecting ends if the spread of the belief is at most
# SPREAD, or after MAX_BISECTING probes. The search ends at the same spread, or after MAX_LONG long probes, but only if
# a long probe has passed at a rate near the capacity: at most BELOW under the capacity or ABOVE over it. A pass raises
# the belief, so until a long probe passes, the rates of long probes exceed the capacity by HIGHER.
SPREAD = 1.4
MAX_BISECTING, MAX_LONG = 9, 8
BELOW, ABOVE, HIGHER = 0.7, 0.4, 0.1
# FEW and SOME are shares of the number of requests that a percentile needs. Doubling probes send the share FEW, and
# bisecting probes send the share SOME.
FEW, SOME = 0.2, 0.5


class LimitedBy(str, Enum):
    """The reason why the search found no higher rate."""

    SERVER = "server"
    GENERATOR = "generator"
    MAX_RATE = "max_rate"
    PROBES = "probes"


@dataclass(frozen=True)
class Probe:
    """A measurement that the caller must run, at a rate per second (see ``SearchPlan``)."""

    rate: float
    duration_s: float
    purpose: Purpose


@dataclass(frozen=True)
class Record:
    """A probe and its judgement."""

    probe: Probe
    judgement: Judgement


@dataclass(frozen=True)
class SearchedCapacity:
    """The result of a search.

    Attributes:
        rate: The highest rate that passed a long probe, or None.
        above: The lowest rate above the result that didn't pass, or None.
        limited_by: The reason why the search found no higher rate.
        records: All probes and their judgements.
        unit: The unit of rates.
    """

    rate: float | None
    above: float | None
    limited_by: LimitedBy
    records: tuple[Record, ...]
    unit: str = "requests/s"

    @property
    def sentence(self) -> str:
        """A description of the result."""
        if self.limited_by is LimitedBy.PROBES:
            return f"inconclusive after {plural(len(self.records), 'probe')}"
        reached = None if self.rate is None else f"{per_second(self.rate)} {self.unit}"
        if self.limited_by is LimitedBy.GENERATOR:
            return f"{reached or 'no rate'} within the objective; the load generator was the limit, not the server"
        if reached is None:
            return f"no rate is within the objective, not even {self.above:.3g} {self.unit}"
        if self.limited_by is LimitedBy.MAX_RATE:
            return f"at least {reached}, the highest rate that was allowed"
        return f"{reached} within the objective"


Steps = Generator[Probe, Judgement, "SearchedCapacity"]
Moves = Generator[Probe, Judgement, None]
Answer = Generator[Probe, Judgement, Judgement]


class CapacitySearch:
    """A search for a capacity. ``next`` returns the next probe, and ``record`` must be called with its judgement."""

    def __init__(self, plan: SearchPlan | None = None) -> None:
        self.plan = plan or SearchPlan()
        self._records: list[Record] = []
        self._belief = Belief(self.plan.lowest_rate, max(self.plan.lowest_rate, self.plan.max_rate))
        self._below = 0.0  # the highest rate that passed
        self._above = inf  # the lowest rate that failed
        self._steps = self._search()
        self._now: Probe | SearchedCapacity = next(self._steps)

    def next(self) -> Probe | SearchedCapacity:
        """Return the current probe or the result, which stays the same until ``record`` is called."""
        return self._now

    def record(self, judgement: Judgement) -> None:
        """Record the judgement of the current probe."""
        assert isinstance(self._now, Probe)
        self._records.append(Record(self._now, judgement))
        try:
            probe = self._steps.send(judgement)
        except StopIteration as end:
            self._now = end.value
            return
        out_of_probes = len(self._records) >= self.plan.max_probes
        self._now = self._result(out_of_probes=True) if out_of_probes else probe

    def _search(self) -> Steps:
        yield from self._double()
        if self._below:
            yield from self._bisect()
            yield from self._confirm()
        return self._result()

    def _double(self) -> Moves:
        """Double the rate until a probe fails, or halve it until a probe passes."""
        rate = self.plan.first_rate
        while self._above == inf and self._below < self.plan.max_rate:
            yield from self._settle(rate)
            rate = min(2 * rate, self.plan.max_rate)
        while not self._below and self.plan.lowest_rate < self._above < inf:
            yield from self._settle(max(self._above / 2, self.plan.lowest_rate))

    def _settle(self, rate: float) -> Moves:
        """Run short probes at one rate until they agree on the outcome."""
        rate = self.plan.rounded(rate)
        judgements: list[Judgement] = []
        while not settled(judgements):
            judgements.append((yield from self._try(rate, Purpose.DOUBLE)))
        if judgements[-1].outcome is Outcome.PASS:
            self._below = rate
        else:
            self._above = rate

    def _bisect(self) -> Moves:
        """Run short probes near the capacity until it is known well enough to start long probes."""
        bracketed = self._above < inf
        self._belief.expect(sqrt(self._below * self._above) if bracketed else self._below)
        self._belief.overloaded(self._above, [one.judgement for one in self._records if one.probe.rate == self._above])
        for number in range(MAX_BISECTING if bracketed else 0):
            rate = self._within(self._belief.rate_with(MORE_LATE if number % 2 else LATE))
            if self._belief.spread <= SPREAD * self.plan.precision:
                return
            judgement = yield from self._try(rate, Purpose.BISECT)
            if judgement.outcome is Outcome.PASS:
                self._below = max(self._below, rate)

    def _confirm(self) -> Moves:
        """Run long probes until the capacity is known well and a long probe near the capacity has passed."""
        self._belief.doubt()
        longs = 0
        while True:
            self._bracket()
            known = longs >= MAX_LONG or self._belief.spread <= SPREAD * self.plan.precision
            if self._below >= self.plan.max_rate or (known and self._is_near(longs)):
                return
            rate = self._next_long(longs)
            if rate is None:
                return
            yield from self._try(rate, Purpose.CONFIRM)
            longs += 1

    def _bracket(self) -> None:
        """Set the highest rate that passed a long probe, and the lowest rate above it that failed.

        A pass far above the estimated capacity is ignored. If no long probe has passed, set the lowest failed rate.
        """
        passed = self._confirmed
        failed = [one.probe.rate for one in self._records if one.judgement.outcome is not Outcome.PASS]
        most = self._belief.capacity * (1 + ABOVE * self.plan.precision)
        self._below = max((rate for rate in passed if rate <= most), default=0.0)
        least = max(self._below, self._belief.capacity) if passed else 0.0
        self._above = min((rate for rate in failed if rate > least), default=inf)

    def _is_near(self, longs: int) -> bool:
        """Return whether the highest rate that passed a long probe is close to the capacity."""
        below, capacity = self._below, min(self._belief.capacity, self._above)
        if not below:
            return False
        near = self.plan.between(below, capacity) is None
        return near and (self.plan.whole or longs >= MAX_LONG or below * (1 + BELOW * self.plan.precision) >= capacity)

    def _next_long(self, longs: int) -> float | None:
        """Return the rate of the next long probe, or None if not even the lowest rate passes."""
        if self._is_near(longs):
            rate = self._belief.rate_with(MORE_LATE if longs % 2 else 1.0)
            return self._within(min(rate, self._below * (1 + self.plan.precision)))
        rate = self._belief.capacity * (1 if self._confirmed else 1 + HIGHER * self.plan.precision)
        if longs and not self._confirmed:
            lowest = min(one.probe.rate for one in self._records if one.probe.purpose is Purpose.CONFIRM)
            if lowest <= self.plan.lowest_rate:
                return None
            # Long probes don't confirm the result of the short probes, so lower the rate in growing steps.
            rate = min(rate, lowest / (1 + self.plan.precision) ** 2 ** (longs - 1))
        return self._within(rate)

    @property
    def _confirmed(self) -> list[float]:
        """The rates that passed a long probe."""
        long = [one for one in self._records if one.probe.purpose is Purpose.CONFIRM]
        return [one.probe.rate for one in long if one.judgement.outcome is Outcome.PASS]

    def _within(self, rate: float) -> float:
        """Return the allowed rate that is nearest to ``rate``."""
        return self.plan.rounded(max(self.plan.lowest_rate, min(rate, self.plan.max_rate)))

    def _try(self, rate: float, purpose: Purpose) -> Answer:
        judgement = yield Probe(rate, self._seconds(rate, purpose), purpose)
        self._belief.add(rate, judgement)
        return judgement

    def _seconds(self, rate: float, purpose: Purpose) -> float:
        plan = self.plan
        if purpose is Purpose.CONFIRM:
            return plan.probe_s(rate, plan.long_s)
        if purpose is Purpose.DOUBLE:
            return plan.probe_s(rate, plan.short_s, FEW)
        times = LONGEST if self._belief.spread <= NARROW else LONGER
        return plan.probe_s(rate, max(plan.short_s, min(times * plan.short_s, plan.long_s)), SOME)

    def _result(self, out_of_probes: bool = False) -> SearchedCapacity:
        return SearchedCapacity(
            rate=self._below if self._below and not out_of_probes else None,
            above=self._above if self._above < inf else None,
            limited_by=LimitedBy.PROBES if out_of_probes else self._limit(),
            records=tuple(self._records),
            unit=self.plan.unit,
        )

    def _limit(self) -> LimitedBy:
        if self._above == inf:  # no probe failed, or passed probes contradict all failed probes
            return LimitedBy.MAX_RATE if self._below >= self.plan.max_rate else LimitedBy.SERVER
        ended = [one.judgement.outcome for one in self._records if one.probe.rate == self._above]
        return LimitedBy.GENERATOR if ended[-1] is Outcome.INVALID else LimitedBy.SERVER
