"""Decide whether a setup met the requirements of a test: failures, losses, and a sustained rate.

A rate is judged by errors and by a growing backlog, as in a capacity search that has no limits for response times. The
response times of an overloaded setup aren't meaningful, because they depend on the duration of the test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median, stdev

import numpy as np

from loadtests.formatting import per_second, percent
from loadtests.plan.kinds import Test
from loadtests.plan.objective import MAX_ERRORS, MAX_MISSING
from loadtests.records import Result, Second, Trial

FAILED = MAX_ERRORS  # Above this share of failed requests, the answered requests no longer represent the setup.
LOST = MAX_MISSING  # Above this share of missing deliveries, a setup is reported as losing messages.
GROWTH = 0.01  # A backlog grows if more than this share of the requests is added to it.
GROWTH_P = 0.05  # A backlog grows steadily if Kendall's rank correlation of backlog and time has a smaller p-value.
STEADY = 1.895  # In slices, a backlog grows steadily above this t value (Student's t, the same p, eight slices).
SETTLING = 0.2  # The first part of a trial (this share) isn't judged, because connections are still being opened.


@dataclass(frozen=True)
class Overload:
    """A ``rate`` that a setup can't sustain, the rate that the setup ``sustains``, and the reason (``why``)."""

    rate: float
    sustains: float
    why: str
    units: str = "requests"

    def __str__(self) -> str:
        return f"cannot sustain {self.rate:,.4g} {self.units}/s, only about {per_second(self.sustains)}"


@dataclass(frozen=True)
class Standing:
    """The outcome of a setup in a test. Shares are from 0 to 1.

    Attributes:
        failed: The share of failed and unanswered requests (or other ``units``).
        overload: The rate that the setup can't sustain, if any.
        allowed: The share of requests that may fail.
        lost: The share of lost deliveries.
        unconnected: The share of connections that the setup refused or closed.
        units: The word for requests in messages, such as ``journeys``.
    """

    failed: float = 0.0
    overload: Overload | None = None
    allowed: float = FAILED
    lost: float = 0.0
    unconnected: float = 0.0
    units: str = "requests"

    @property
    def loses(self) -> bool:
        return self.lost > LOST

    @property
    def fails(self) -> bool:
        """Whether more requests, deliveries or connections failed or were lost than allowed."""
        return self.failed > self.allowed or self.loses or self.unconnected > FAILED

    @property
    def worst(self) -> float:
        return max(self.failed, self.lost, self.unconnected)

    @property
    def failures(self) -> tuple[str, ...]:
        """Short descriptions of the failures and losses above the allowed share."""
        return (
            *([f"loses {percent(self.lost)}"] if self.loses else []),
            *([f"{self.failed:.2%} failed"] if self.failed > self.allowed else []),
            *([f"{percent(self.unconnected)} of its connections refused or lost"] if self.unconnected > FAILED else []),
        )

    @property
    def trouble(self) -> str:
        """A description of all problems, or an empty string."""
        if self.overload:
            lost = f"; loses {percent(self.lost)}" if self.loses else ""
            return f"{self.overload}: {self.overload.why}{lost}"
        return ", ".join(self.failures)

    def failure_shares(self, whose: str, with_allowed: bool = False) -> list[str]:
        """Describe each share that isn't allowed, such as ``2.00% of its requests failed``.

        With ``with_allowed``, describe each share above 0.
        """
        shares = (
            (self.lost, LOST, "deliveries are missing"),
            (self.failed, self.allowed, f"{self.units} failed"),
            (self.unconnected, FAILED, "connections were refused or lost"),
        )
        return [
            f"{share:.2%} of {whose} {what}" for share, least, what in shares if share > (0 if with_allowed else least)
        ]


SOUND = Standing()


def standing(test: Test, trials: Sequence[Trial]) -> Standing:
    """Return the outcome of a setup in its valid trials of a test.

    A setup can't sustain a rate if more than half of its trials didn't sustain the rate, because a single trial may
    have been disturbed.
    """
    measured = [trial for trial in trials if trial.result]
    found = Standing(
        failed_share(measured),
        allowed=test.allowed_failures,
        lost=lost_share(measured),
        unconnected=unconnected_share(measured),
        units=f"{test.kind.load_unit}s",
    )
    if test.fixed_rate is None:
        return found
    overloaded = [trial for trial in measured if not _sustained(trial, test.fixed_rate)]
    if 2 * len(overloaded) <= len(measured):
        return found
    sustains = median(_sustained_rate(trial.result) for trial in overloaded if trial.result)
    share = failed_share(overloaded)
    why = f"{share:.1%} failed" if share > FAILED else "its backlog grew until the end"
    return replace(found, overload=Overload(test.fixed_rate, sustains, why, found.units))


def failed_share(trials: Sequence[Trial]) -> float:
    """Return the share of the planned requests that failed or were never answered."""
    results = [trial.result for trial in trials if trial.result]
    planned = sum(result.planned for result in results)
    return sum(sum(result.failed.values()) for result in results) / planned if planned else 0.0


def lost_share(trials: Sequence[Trial]) -> float:
    """Return the share of the expected deliveries that are missing."""
    known = [trial.result.deliveries for trial in trials if trial.result and trial.result.deliveries]
    expected = sum(one.expected for one in known)
    return sum(one.missing for one in known) / expected if expected else 0.0


def unconnected_share(trials: Sequence[Trial]) -> float:
    """Return the share of the connections that were refused, or closed by the server."""
    known = [trial.result.connections for trial in trials if trial.result and trial.result.connections]
    requested = sum(one.requested for one in known)
    # A lost connection is opened again and may be lost again, so the sum can exceed the number of connections.
    return min(1.0, sum(one.refused + one.lost for one in known) / requested) if requested else 0.0


def backlog_grows(timeline: Sequence[Second], rate: float) -> bool:
    """Return whether the number of outstanding requests rises steadily, by more than 1% of the rate each second.

    By Little's law, the backlog is the rate times the response time, so rising response times also make the backlog
    grow.
    """
    sending = [second for second in timeline if second.sent]
    settled = backlog(sending)[int(len(sending) * SETTLING) :]
    if len(settled) < 4:
        return False
    seconds = np.arange(len(settled))
    from scipy import stats  # slow to import

    if float(stats.theilslopes(settled, seconds).slope) <= GROWTH * rate:
        return False
    return bool(stats.kendalltau(seconds, settled, alternative="greater").pvalue < GROWTH_P)


def backlog(timeline: Sequence[Second]) -> list[int]:
    """Return the number of requests in flight at the end of each second."""
    in_flight, series = 0, []
    for second in timeline:
        in_flight += second.sent - second.ok - second.errors
        series.append(in_flight)
    return series


def slices_pile_up(backlog: Sequence[int], planned: int) -> bool:
    """Return whether the slices end with steady backlogs that add up to more than 1% of the ``planned`` requests.

    Each slice starts without a backlog, so an overload is visible in each slice. A single open request is normal,
    although it is more than 1% of a short slice at a low rate.
    """
    if sum(backlog) <= max(GROWTH * planned, len(backlog)):
        return False
    if len(backlog) < 2:
        return True
    error = stdev(backlog) / len(backlog) ** 0.5
    return bool(error == 0 or fmean(backlog) / error > STEADY)


def _sustained(trial: Trial, rate: float) -> bool:
    result = trial.result
    if result is None:
        return True
    if failed_share([trial]) > FAILED:
        return False
    # A server may accept messages that it doesn't deliver in time, so also check the backlog of deliveries.
    if result.deliveries and slices_pile_up(result.deliveries.backlog, result.deliveries.expected):
        return False
    if len(result.backlog) > 1:
        return not slices_pile_up(result.backlog, result.planned)
    return not backlog_grows(result.timeline, rate)


def _sustained_rate(result: Result) -> float:
    """Return the rate of successful requests or the rate of requests with deliveries in time, whichever is lower."""
    deliveries = result.deliveries
    if deliveries is None or not deliveries.expected:
        return result.rate
    return min(result.rate, result.planned / result.duration_s * deliveries.timely / deliveries.expected)
