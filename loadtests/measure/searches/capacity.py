"""The search for the highest rate that passes: double, bisect, confirm. A state machine without clock or process.

The caller alternates ``next`` and ``record``::

    search = CapacitySearch(SearchPlan(start_rate=100))
    while isinstance(step := search.next(), Probe):
        search.record(judge(measure(step), objective))
    print(step.sentence)

The steps are a coroutine that yields probes and is sent judgements, so the search reads from top to bottom.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum
from math import inf

from loadtests.formatting import per_second, plural
from loadtests.measure.searches.judge import Judgement, Outcome
from loadtests.measure.searches.settle import leaning, settled
from loadtests.plan.objective import SearchPlan


class Purpose(str, Enum):
    DOUBLE = "double"
    BISECT = "bisect"
    CONFIRM = "confirm"


# The most probes of a rate that stays doubtful: few to come near, many to confirm.
MOST_PROBES = {Purpose.DOUBLE: 2, Purpose.BISECT: 2, Purpose.CONFIRM: 8}


class LimitedBy(str, Enum):
    """What kept the result from being higher."""

    SERVER = "server"
    GENERATOR = "generator"
    MAX_RATE = "max_rate"
    PROBES = "probes"
    TIME = "time"


@dataclass(frozen=True)
class Probe:
    """One measurement to make, at a rate per second (see SearchPlan)."""

    rate: float
    duration_s: float
    purpose: Purpose


@dataclass(frozen=True)
class Record:
    """A probe and how it was judged."""

    probe: Probe
    judgement: Judgement


@dataclass(frozen=True)
class SearchedCapacity:
    """The result. ``rate`` passed long probes; None if nothing did. ``above`` is the lowest rate that did not.
    ``unknowable_below``: lower rates would have needed longer probes than there are."""

    rate: float | None
    above: float | None
    limited_by: LimitedBy
    records: tuple[Record, ...]
    unknowable_below: bool = False
    unit: str = "requests/s"

    @property
    def seconds(self) -> float:
        """Measured time, at most: probes that are lost stop early."""
        return sum(record.probe.duration_s for record in self.records)

    @property
    def sentence(self) -> str:
        """The result in words."""
        probes = plural(len(self.records), "probe")
        if self.limited_by is LimitedBy.PROBES:
            return f"inconclusive: {probes} did not settle it"
        if self.limited_by is LimitedBy.TIME and self.rate is None:
            passed = [one.probe.rate for one in self.records if one.judgement.outcome is Outcome.PASS]
            unconfirmed = (
                f"{per_second(max(passed))} {self.unit} passed a probe, but was not confirmed" if passed else ""
            )
            return "; ".join(filter(None, [f"inconclusive: the time was up after {probes}", unconfirmed]))
        reached = None if self.rate is None else f"{per_second(self.rate)} {self.unit}"
        if self.limited_by is LimitedBy.GENERATOR:
            return f"{reached or 'no rate'} within the objective: the generator's limit, not the server's"
        if reached is None:
            more = "; lower rates would need longer probes, to know the percentile" if self.unknowable_below else ""
            return f"no rate is within the objective, not even {self.above:.3g} {self.unit}{more}"
        if self.limited_by is LimitedBy.MAX_RATE:
            return f"at least {reached}, the highest rate that was allowed"
        if self.limited_by is LimitedBy.TIME:
            return f"at least {reached}: the time was up before a higher rate was settled"
        return f"{reached} within the objective"


Steps = Generator[Probe, Judgement, "SearchedCapacity"]
Moves = Generator[Probe, Judgement, None]
Answer = Generator[Probe, Judgement, Outcome]


class CapacitySearch:
    """``next`` says what to do, ``record`` takes how it went; strictly in turn."""

    def __init__(self, plan: SearchPlan | None = None) -> None:
        self.plan = plan or SearchPlan()
        self._records: list[Record] = []
        self._below = 0.0  # the highest rate that passed
        self._above = inf  # the lowest that did not, and what it did
        self._above_outcome = Outcome.FAIL
        self._left_s = inf if self.plan.max_s is None else self.plan.max_s
        self._overhead_s = 0.0
        self._out_of_time = False  # for what the search is doing now
        self._steps = self._search()
        self._now: Probe | SearchedCapacity = next(self._steps)

    def next(self) -> Probe | SearchedCapacity:
        """The probe to make now, or the result. The same until ``record`` is called."""
        return self._now

    def record(self, judgement: Judgement, left_s: float = inf, overhead_s: float = 0.0) -> None:
        """Takes the judgement of the probe that ``next`` gave, the seconds left for the search, and those that a probe
        takes on top of its own. Raises ValueError when the search is over."""
        if isinstance(self._now, SearchedCapacity):
            raise ValueError("the search is over")
        self._records.append(Record(self._now, judgement))
        self._left_s, self._overhead_s = left_s, overhead_s
        try:
            probe = self._steps.send(judgement)
        except StopIteration as end:
            self._now = end.value
            return
        out_of_probes = len(self._records) >= self.plan.max_probes
        self._now = self._result(out_of_probes=True) if out_of_probes else probe

    def _search(self) -> Steps:
        yield from self._double()
        yield from self._bisect(Purpose.BISECT)
        if not self._below:
            return self._result()
        yield from self._confirm()
        yield from self._bisect(Purpose.CONFIRM)
        return self._result()

    def _double(self) -> Moves:
        """Up by two while rates pass, or down by two until one does: leaves a pass with a fail above it."""
        rate = self.plan.first_rate
        while self._above == inf and self._below < self.plan.max_rate and not self._out_of_time:
            yield from self._try(rate, Purpose.DOUBLE)
            rate = min(2 * rate, self.plan.max_rate)
        while not self._below and self._above > self.plan.lowest_rate and not self._out_of_time:
            yield from self._try(max(self._above / 2, self.plan.lowest_rate), Purpose.DOUBLE)

    def _bisect(self, purpose: Purpose) -> Moves:
        while 0 < self._below < self._above < inf and not self._out_of_time:
            if (rate := self.plan.between(self._below, self._above)) is None:
                return
            yield from self._try(rate, purpose)

    def _confirm(self) -> Moves:
        """Long probes, which alone count from here on, in growing steps: from the rate found, down until one passes or,
        as unlucky short probes may have ended the bisection too low, up until one fails."""
        rate, step = self._below, 1 + self.plan.precision
        self._below, self._above = 0.0, inf
        self._out_of_time = False  # what is left was set aside for this
        yield from self._try(rate, Purpose.CONFIRM)
        while not self._below and rate > self.plan.lowest_rate and not self._out_of_time:
            rate, step = max(rate / step, self.plan.lowest_rate), step**2
            yield from self._try(rate, Purpose.CONFIRM)
        while self._above == inf and self._below < self.plan.max_rate and not self._out_of_time:
            rate, step = min(rate * step, self.plan.max_rate), step**2
            yield from self._try(rate, Purpose.CONFIRM)

    def _try(self, rate: float, purpose: Purpose) -> Moves:
        if not self._has_time(rate, purpose):
            return
        rate = self.plan.rounded(rate)
        outcome = yield from self._settle(rate, purpose)
        if outcome is Outcome.PASS:
            self._below = rate
        else:
            self._above, self._above_outcome = rate, outcome

    def _settle(self, rate: float, purpose: Purpose) -> Answer:
        """Probes of one rate until they settle it, or until the time is up."""
        duration_s = self._seconds(rate, purpose)
        judgements: list[Judgement] = []
        while True:
            judgements.append((yield Probe(rate, duration_s, purpose)))
            if (outcome := settled(judgements, MOST_PROBES[purpose])) is not None:
                return outcome
            if not self._has_time(rate, purpose):
                return leaning(judgements)

    def _seconds(self, rate: float, purpose: Purpose) -> float:
        return self.plan.probe_s(rate, self.plan.long_s if purpose is Purpose.CONFIRM else self.plan.short_s)

    def _has_time(self, rate: float, purpose: Purpose) -> bool:
        """Whether there is time for one more probe; and after a short one for the long one that is to confirm it."""
        needed_s = self._seconds(rate, Purpose.CONFIRM)
        if purpose is not Purpose.CONFIRM:
            needed_s += self._seconds(rate, purpose) + 2 * self._overhead_s
        self._out_of_time = needed_s > self._left_s
        return not self._out_of_time

    def _result(self, out_of_probes: bool = False) -> SearchedCapacity:
        return SearchedCapacity(
            rate=self._below if self._below and not out_of_probes else None,
            above=self._above if self._above < inf else None,
            limited_by=LimitedBy.PROBES if out_of_probes else self._limit(),
            records=tuple(self._records),
            unknowable_below=self.plan.lowest_rate > self.plan.min_rate,
            unit=self.plan.unit,
        )

    def _limit(self) -> LimitedBy:
        if self._out_of_time:
            return LimitedBy.TIME
        if self._above == inf:
            return LimitedBy.MAX_RATE
        return LimitedBy.GENERATOR if self._above_outcome is Outcome.INVALID else LimitedBy.SERVER
