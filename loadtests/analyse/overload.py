"""Whether a setup did what a test asked of it: how much failed or was lost, and whether it could hold a fixed rate.

A rate is judged by what the search for a capacity asks of a probe, but for its limits on response times: errors, and a
backlog that grows, of what is sent or of what is to be delivered. Response times say nothing of a setup that was asked
for more than it can do: they are as long as the test was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median, stdev

import numpy as np

from loadtests.formatting import percent
from loadtests.plan.kinds import Test
from loadtests.plan.objective import MAX_ERRORS, MAX_MISSING
from loadtests.records import Result, Second, Trial

# Above this share of failed requests what was answered no longer speaks for the setup.
FAILED = MAX_ERRORS
# Above this share of missing deliveries a setup loses messages, whatever else it does.
LOST = MAX_MISSING
# A backlog grows if it takes up more than this share of the requests, second after second ...
GROWTH = 0.01
# ... steadily (Kendall's rank correlation of backlog and time) ...
GROWTH_P = 0.05
# ... or, where it is seen in slices, by so many standard errors (the same p for eight slices: Student, 7 degrees) ...
STEADY = 1.895
# ... after the first seconds, in which connections are made.
SETTLING = 0.2


@dataclass(frozen=True)
class Overload:
    """A rate that is too much for a setup. ``holds`` is what it answered well per second when it was asked for
    ``rate``, ``why`` what was seen; ``what`` is what was sent."""

    rate: float
    holds: float
    why: str
    what: str = "requests"

    def __str__(self) -> str:
        return f"cannot hold {self.rate:,.4g} {self.what}/s (holds about {self.holds:,.3g})"


@dataclass(frozen=True)
class Standing:
    """What a setup made of a test: the share of its requests (or ``what`` else it was sent) that ``failed``, 0 to 1,
    those without an answer among them; the ``overload`` where it could not hold the rate; and the share that is
    ``allowed`` to fail. ``lost`` is the share of the expected deliveries that never came, ``unconnected`` that of the
    connections to be held that were refused, or that the setup closed."""

    failed: float = 0.0
    overload: Overload | None = None
    allowed: float = FAILED
    lost: float = 0.0
    unconnected: float = 0.0
    what: str = "requests"

    @property
    def loses(self) -> bool:
        """Whether more deliveries are missing than may be."""
        return self.lost > LOST

    @property
    def fails(self) -> bool:
        """Whether more failed than may, or was lost."""
        return self.failed > self.allowed or self.loses or self.unconnected > FAILED

    @property
    def worst(self) -> float:
        """The largest of its shares."""
        return max(self.failed, self.lost, self.unconnected)

    @property
    def failures(self) -> tuple[str, ...]:
        """What failed or was lost and may not, in a few words each; none where it did what it was asked."""
        return (
            *([f"loses {percent(self.lost)}"] if self.loses else []),
            *([f"{self.failed:.2%} failed"] if self.failed > self.allowed else []),
            *([f"{percent(self.unconnected)} of its connections refused or lost"] if self.unconnected > FAILED else []),
        )

    @property
    def trouble(self) -> str:
        """What failed, in words; empty where it did what it was asked."""
        if self.overload:
            lost = f"; loses {percent(self.lost)}" if self.loses else ""
            return f"{self.overload}: {self.overload.why}{lost}"
        return ", ".join(self.failures)

    def told(self, whose: str, all_of_it: bool = False) -> list[str]:
        """The shares as sentences' ends, such as ``2.00% of its requests failed`` where ``whose`` is its; those that
        are allowed as well where ``all_of_it`` is wanted."""
        shares = (
            (self.lost, LOST, "deliveries are missing"),
            (self.failed, self.allowed, f"{self.what} failed"),
            (self.unconnected, FAILED, "connections were refused or lost"),
        )
        return [
            f"{share:.2%} of {whose} {what}" for share, allowed, what in shares if share > (0 if all_of_it else allowed)
        ]


SOUND = Standing()


def standing(test: Test, trials: Sequence[Trial]) -> Standing:
    """What a setup made of a test in its valid trials.

    It cannot hold the rate where it did not in more than half of them: a single one may have been disturbed.
    """
    measured = [trial for trial in trials if trial.result]
    found = Standing(
        failed_share(measured),
        allowed=test.allowed_failures,
        lost=lost_share(measured),
        unconnected=unconnected_share(measured),
        what=f"{test.load_unit}s",
    )
    if test.fixed_rate is None:
        return found
    unheld = [trial for trial in measured if not _held(trial, test.fixed_rate)]
    if 2 * len(unheld) <= len(measured):
        return found
    holds = median(_holds(trial.result) for trial in unheld if trial.result)
    share = failed_share(unheld)
    why = f"{share:.1%} failed" if share > FAILED else "its backlog grew until the end"
    return replace(found, overload=Overload(test.fixed_rate, holds, why, found.what))


def failed_share(trials: Sequence[Trial]) -> float:
    """The share of the planned requests of some trials, 0 to 1, that failed or were never answered."""
    results = [trial.result for trial in trials if trial.result]
    planned = sum(result.planned for result in results)
    return sum(sum(result.failed.values()) for result in results) / planned if planned else 0.0


def lost_share(trials: Sequence[Trial]) -> float:
    """The share of the expected deliveries of some trials, 0 to 1, that are missing."""
    known = [trial.result.deliveries for trial in trials if trial.result and trial.result.deliveries]
    expected = sum(one.expected for one in known)
    return sum(one.missing for one in known) / expected if expected else 0.0


def unconnected_share(trials: Sequence[Trial]) -> float:
    """The share of the connections that some trials were to hold, 0 to 1, that were refused, or closed by the
    server."""
    known = [trial.result.connections for trial in trials if trial.result and trial.result.connections]
    wanted = sum(one.requested for one in known)
    # One that was lost is opened again, and may be lost again.
    return min(1.0, sum(one.refused + one.lost for one in known) / wanted) if wanted else 0.0


def backlog_grows(timeline: Sequence[Second], rate: float) -> bool:
    """Whether requests pile up while they are sent: sent minus answered rises steadily, by over 1% of the rate.

    By Little's law the backlog is rate times response time, so this also finds response times that only rise.
    """
    sending = [second for second in timeline if second.sent]
    piled = backlog(sending)[int(len(sending) * SETTLING) :]
    if len(piled) < 4:
        return False
    seconds = np.arange(len(piled))
    from scipy import stats  # takes a second to import, and only load that piles up needs it

    slope = float(stats.theilslopes(piled, seconds).slope)
    if slope <= GROWTH * rate:
        return False
    return bool(stats.kendalltau(seconds, piled, alternative="greater").pvalue < GROWTH_P)


def backlog(timeline: Sequence[Second]) -> list[int]:
    """The requests that were sent and had no end yet, at the end of each second."""
    in_flight, series = 0, []
    for second in timeline:
        in_flight += second.sent - second.ok - second.errors
        series.append(in_flight)
    return series


def slices_pile_up(backlog: Sequence[int], planned: int) -> bool:
    """Whether slices leave more behind than they found: over 1% of what was ``planned`` in all of them, and steadily.

    Each slice begins when all is worked off, so a rate that is too much shows within each of them."""
    if sum(backlog) <= GROWTH * planned:
        return False
    if len(backlog) < 2:
        return True
    error = stdev(backlog) / len(backlog) ** 0.5
    return bool(error == 0 or fmean(backlog) / error > STEADY)


def _held(trial: Trial, rate: float) -> bool:
    result = trial.result
    if result is None:
        return True
    if failed_share([trial]) > FAILED:
        return False
    # A server may take what it does not pass on in time.
    if result.deliveries and slices_pile_up(result.deliveries.backlog, result.deliveries.expected):
        return False
    if len(result.backlog) > 1:
        return not slices_pile_up(result.backlog, result.planned)
    return not backlog_grows(result.timeline, rate)


def _holds(result: Result) -> float:
    """What it answered well per second, or passed on in time, where that is less."""
    deliveries = result.deliveries
    if deliveries is None or not deliveries.expected:
        return result.rate
    return min(result.rate, result.planned / result.duration_s * deliveries.timely / deliveries.expected)
