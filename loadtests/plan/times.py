"""Define the kinds of measured times, their percentiles, and the generator's own share in these times.

Percentiles include everything that was due. The generator can add a delay when it sends and when it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from loadtests.plan.objective import MAX_ERRORS
from loadtests.plan.percentiles import knowable
from loadtests.records import RequestResult, Result, Trial
from loadtests.records.histogram import decoded
from loadtests.records.result import PERCENTILES, Figures

# The generator's delay is part of every response time. If it is more than a quarter of a percentile, it could create a
# difference of a third between two equal setups. The limit has no minimum, because a delay of 1 ms is half of a
# response time of 2 ms.
LATE = 0.25

# A server that selects one of four connections at random gives a connection 1.33 answers in a row on average.
MAX_ANSWERS_IN_A_ROW = 1.5


@dataclass(frozen=True)
class Due:
    """The number of due events, and the number and times of the events that arrived.

    The times are figures in ms and a histogram.
    """

    came: int
    due: float
    figures: Figures
    histogram: str | None

    def percentile(self, key: str) -> float | None:
        """Return a percentile (``p99``) in ms of everything that was due. Failures count as infinitely late.

        Returns:
            The percentile, infinity if too few events arrived, or None if a missing histogram makes it unknown.
        """
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
    """A kind of measured time, such as the response time.

    Args:
        due: A function that returns the ``Due`` of this kind in a result, or None if the result has no such times.
        count: A function that returns the number of independent values in a result.
        sending: Whether the time starts at the generator's intended send.
        reading: A function of a result and a percentile. It returns the time in ms that received data may have waited
            in the generator before it was read.
    """

    due: Callable[[Result], Due | None]
    count: Callable[[Result], float]
    sending: bool = False
    reading: Callable[[Result, str], float | None] = lambda result, key: None

    def percentile(self, result: Result, key: str) -> float | None:
        """Return a percentile over everything that was due, as in ``Due``, even if there are few values."""
        due = self.due(result)
        return due.percentile(key) if due else None

    def read(self, trial: Trial, key: str) -> float | None:
        """Return a trial's value of this percentile.

        Returns:
            The percentile, or None if it isn't known or there were too few requests. In a valid trial, it is also None
            if the generator was late or the server was unfair.
        """
        result = trial.result
        if result is None or self.too_few(result, key):
            return None
        if trial.valid and (self.too_late(result, key) or self.is_unfair(result)):
            return None
        return self.percentile(result, key)

    def too_few(self, result: Result, key: str) -> bool:
        """Return whether there are too few values to determine the percentile."""
        return not knowable(PERCENTILES[key], self.count(result))

    def sending_share(self, result: Result, key: str) -> float | None:
        """Return the share of the sending delay in the measured time.

        Returns:
            The share, or None if the delay or the time isn't known. A closed loop can't be late, because it has no due
            times.
        """
        return self._share(result.pacing_lag_ms.get(key), result, key) if self.sending else None

    def reading_share(self, result: Result, key: str) -> float | None:
        """Return the share of the reading delay in the measured time, or None if the delay or the time isn't known."""
        return self._share(self.reading(result, key), result, key)

    def too_late(self, result: Result, key: str) -> bool:
        """Return whether the generator sent (or may have read) too late for the percentile to describe the server."""
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
    """Return how long the last delivery of a message may have waited in the generator.

    The delay of the last of R receivers is the longest of R reading delays. If these delays were independent, the
    percentile p of the longest delay would be the percentile p ** (1 / R) of a single delay. The delays for a message
    aren't independent, so their longest delay is shorter. The result is therefore an upper bound.
    """
    deliveries, readings = result.deliveries, result.histograms.get("reading_lag")
    if deliveries is None or not deliveries.messages or not deliveries.expected or readings is None:
        return None
    receivers = deliveries.expected / deliveries.messages
    lain_us = decoded(readings).percentile(100 * (PERCENTILES[key] / 100) ** (1 / receivers))
    return None if lain_us is None else lain_us / 1000


ANSWERS = MeasuredTime(_answers, lambda result: result.planned, sending=True)
# Count messages, not deliveries. The deliveries of a message are late together, so a hundred of them contain little
# more information than a single delivery.
LAG = MeasuredTime(_deliveries, lambda result: result.ok, sending=True, reading=_reading)  # The delay of a delivery.
# The time until all receivers have a message.
LAST = MeasuredTime(_last, lambda result: result.ok, sending=True, reading=_reading_of_last)
FIRST_EVENT = MeasuredTime(_first_events, _due(_first_events))  # The time of a stream's first event.
EVENT_DELAY = MeasuredTime(_events, _due(_events), reading=_reading)  # The delay of an event in a stream.
VIEW_ENDED = MeasuredTime(_views, _due(_views))  # The time after a client leaves until its view ends.


def of_method(result: Result, method: str, key: str) -> float | None:
    """Return a percentile in ms of a journey's requests with one method (``GET``), or None for too few requests."""
    own = result.journeys.method(method) if result.journeys else None
    if own is None or not knowable(PERCENTILES[key], own.planned):
        return None
    return Due(own.ok, own.planned, own.response_time_ms, result.histograms.get(method.lower())).percentile(key)


def of_request(one: RequestResult, key: str) -> float | None:
    """Return a percentile in ms of one request in a mix, or of one route.

    There is no histogram for a single request or route, so this is the percentile of the successful requests.

    Returns:
        The percentile, infinity if too many requests failed, or None if there are too few requests.
    """
    if not knowable(PERCENTILES[key], one.planned):
        return None
    return one.response_time_ms.get(key) if one.ok >= one.planned * PERCENTILES[key] / 100 else inf
