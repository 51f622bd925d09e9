"""Kinds of time that a trial measures: their percentiles over all that was due, and how much of one is the generator's
own delay, in sending and in reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from loadtests.plan.objective import MAX_ERRORS
from loadtests.plan.percentiles import knowable
from loadtests.records import RequestResult, Result, Trial
from loadtests.records.histogram import decoded
from loadtests.records.result import PERCENTILES, Figures

# The delay of the generator is part of every response time. Where it is more than a quarter of a percentile it could
# make a third of difference between two setups out of nothing. There is no floor: of a response time of 2 ms a delay
# of 1 ms is half, however short it is.
LATE = 0.25

# A server that chooses one of four connections at random gives a connection 1.33 answers in a row.
MAX_ANSWERS_IN_A_ROW = 1.5


@dataclass(frozen=True)
class Due:
    """How many were due, and how many of them came, with the times of those: figures in ms, and a histogram."""

    came: int
    due: float
    figures: Figures
    histogram: str | None

    def percentile(self, key: str) -> float | None:
        """A percentile (``p99``) in ms of all that were due, of which those that failed or never came rank as
        infinitely late: infinite where it is never reached. None where it is not known: an engine
        without histograms knows only those that came."""
        if self.came == self.due:
            return self.figures.get(key)
        if self.came < self.due * PERCENTILES[key] / 100:
            return inf
        if self.histogram is None:
            return self.figures.get(key) if self.due - self.came <= self.due * MAX_ERRORS else None
        found = decoded(self.histogram).percentile(PERCENTILES[key] * self.due / self.came)
        return None if found is None else found / 1000


@dataclass(frozen=True)
class MeasuredTime:
    """A kind of time. ``due`` reads what was due off a result, None where it has none of the kind. ``count`` is how
    many a percentile is taken over. ``sending``: it is counted from when the generator should have sent something;
    ``reading``: how long, in ms at a percentile, it may have lain in the generator before it was read."""

    due: Callable[[Result], Due | None]
    count: Callable[[Result], float]
    sending: bool = False
    reading: Callable[[Result, str], float | None] = lambda result, key: None

    def percentile(self, result: Result, key: str) -> float | None:
        """A percentile over all that were due, as that of ``Due``, however few they are."""
        due = self.due(result)
        return due.percentile(key) if due else None

    def read(self, trial: Trial, key: str) -> float | None:
        """Return the percentile in a trial.

        Returns:
            The percentile, or None if it isn't known, if there were too few requests, or if a valid trial's
            generator was late or its server unfair.
        """
        result = trial.result
        if result is None or self.too_few(result, key):
            return None
        if trial.valid and (self.too_late(result, key) or self.is_unfair(result)):
            return None
        return self.percentile(result, key)

    def too_few(self, result: Result, key: str) -> bool:
        """Whether there were too few to know the percentile."""
        return not knowable(PERCENTILES[key], self.count(result))

    def sending_share(self, result: Result, key: str) -> float | None:
        """The delay in sending over the time; None where either is not known: a closed loop has no time to be late
        for."""
        return self._share(result.pacing_lag_ms.get(key), result, key) if self.sending else None

    def reading_share(self, result: Result, key: str) -> float | None:
        """The delay in reading over the time; None where either is not known."""
        return self._share(self.reading(result, key), result, key)

    def too_late(self, result: Result, key: str) -> bool:
        """Whether the generator sent, or may have read, so late that the percentile says little of the server."""
        shares = (self.sending_share(result, key), self.reading_share(result, key))
        return any(share is not None and share > LATE for share in shares)

    def is_unfair(self, result: Result) -> bool:
        """Check whether a few connections got most answers, so that the percentile depends on the connection."""
        return self.sending and (result.answers_in_a_row or 0.0) > MAX_ANSWERS_IN_A_ROW

    def _share(self, late: float | None, result: Result, key: str) -> float | None:
        due = self.due(result)
        time = due.figures.get(key) if due else None
        return None if late is None or not time else late / time


def _answers(result: Result) -> Due:
    due = result.ok + sum(result.failed.values())
    return Due(result.ok, due, result.latency_ms, result.histograms.get(result.latency_of))


def _deliveries(result: Result) -> Due | None:
    found = result.deliveries
    return Due(found.delivered, result.deliveries_due, found.lag_ms, result.histograms.get("lag")) if found else None


def _last(result: Result) -> Due | None:
    found = result.deliveries
    if found is None or not found.messages or found.last_ms is None:
        return None
    due = found.messages * (result.planned / result.sent)
    return Due(found.whole or 0, due, found.last_ms, result.histograms.get("last"))


def _first_events(result: Result) -> Due | None:
    found = result.streams
    return Due(found.answered, found.begun, found.first_ms, result.histograms.get("first_event")) if found else None


def _events(result: Result) -> Due | None:
    found = result.streams
    if found is None or not found.due:
        return None
    return Due(found.events, found.due, found.delay_ms, result.histograms.get("event_delay"))


def _views(result: Result) -> Due | None:
    found = result.streams.left if result.streams else None
    return Due(found.ended, found.views, found.after_ms, result.histograms.get("view_ended")) if found else None


def _due(due: Callable[[Result], Due | None]) -> Callable[[Result], float]:
    return lambda result: found.due if (found := due(result)) else 0


def _reading(result: Result, key: str) -> float | None:
    read = result.deliveries or result.streams
    return read.reading_lag_ms.get(key) if read and read.reading_lag_ms else None


def _reading_of_last(result: Result, key: str) -> float | None:
    """How long the last delivery of a message may have lain in the generator.

    The last of R receivers is as late as the latest of R readings is. That one is below a time as often as all of R
    draws are, so a percentile p of it is the percentile p ** (1 / R) of a single reading. Readings of one message come
    together and are less than R draws, which makes their latest earlier: the share is rather too large than too small.
    """
    deliveries, readings = result.deliveries, result.histograms.get("reading_lag")
    if deliveries is None or not deliveries.messages or not deliveries.expected or readings is None:
        return None
    receivers = deliveries.expected / deliveries.messages
    lain_us = decoded(readings).percentile(100 * (PERCENTILES[key] / 100) ** (1 / receivers))
    return None if lain_us is None else lain_us / 1000


ANSWERS = MeasuredTime(_answers, lambda result: result.planned, sending=True)
# Messages and not deliveries are counted: those of one message are late together, so that a hundred of them tell hardly
# more than one does.
LAG = MeasuredTime(_deliveries, lambda result: result.ok, sending=True, reading=_reading)  # of every delivery
LAST = MeasuredTime(_last, lambda result: result.ok, sending=True, reading=_reading_of_last)  # until all have a message
FIRST_EVENT = MeasuredTime(_first_events, _due(_first_events))  # of every stream
EVENT_DELAY = MeasuredTime(_events, _due(_events), reading=_reading)  # of every event of a stream
VIEW_ENDED = MeasuredTime(_views, _due(_views))  # of every view whose client left


def of_method(result: Result, method: str, key: str) -> float | None:
    """A percentile in ms of the requests of a journey that have a method (``GET``). None also where they were too
    few."""
    own = result.journeys.method(method) if result.journeys else None
    if own is None or not knowable(PERCENTILES[key], own.planned):
        return None
    return Due(own.ok, own.planned, own.response_time_ms, result.histograms.get(method.lower())).percentile(key)


def of_request(one: RequestResult, key: str) -> float | None:
    """The same of one request of several, or of one route: where the percentile is reached it is that of the requests
    that were answered well, for of a single one no histogram is kept. None also where they were too few."""
    if not knowable(PERCENTILES[key], one.planned):
        return None
    return one.response_time_ms.get(key) if one.ok >= one.planned * PERCENTILES[key] / 100 else inf
