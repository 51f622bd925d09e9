"""Whether a setup did what a test asked of it: how much failed, and whether it could hold a fixed rate.

A rate is judged by what the search for a capacity asks of a probe, but for its limits on response times: errors, and a
backlog that grows. Response times say nothing of a setup that was asked for more than it can do: they are as long as
the test was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

import numpy as np

from loadtests.plan.kinds import Test
from loadtests.plan.objective import MAX_ERRORS
from loadtests.records import Second, Trial

# Above this share of failed requests what was answered no longer speaks for the setup.
FAILED = MAX_ERRORS
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
    ``rate``, ``why`` what was seen."""

    rate: float
    holds: float
    why: str

    def __str__(self) -> str:
        return f"cannot hold {self.rate:,.4g} requests/s (holds about {self.holds:,.3g})"


@dataclass(frozen=True)
class Standing:
    """What a setup made of a test: the share of its requests that ``failed``, 0 to 1, those without an answer among
    them; the ``overload`` where it could not hold the rate; and the share that is ``allowed`` to fail."""

    failed: float = 0.0
    overload: Overload | None = None
    allowed: float = FAILED

    @property
    def fails(self) -> bool:
        """Whether more failed than may."""
        return self.failed > self.allowed

    @property
    def trouble(self) -> str:
        """What failed, in words; empty where it did what it was asked."""
        if self.overload:
            return f"{self.overload}: {self.overload.why}"
        return f"{self.failed:.2%} failed" if self.fails else ""


SOUND = Standing()


def standing(test: Test, trials: Sequence[Trial]) -> Standing:
    """What a setup made of a test in its valid trials.

    It cannot hold the rate where it did not in more than half of them: a single one may have been disturbed.
    """
    measured = [trial for trial in trials if trial.result]
    failed = failed_share(measured)
    if test.search is not None:
        return Standing(failed, allowed=test.search[0].max_errors)
    if test.fixed_rate is None:
        return Standing(failed)
    unheld = [trial for trial in measured if not _held(trial, test.fixed_rate)]
    if 2 * len(unheld) <= len(measured):
        return Standing(failed)
    holds = median(trial.result.rate for trial in unheld if trial.result)
    share = failed_share(unheld)
    why = f"{share:.1%} failed" if share > FAILED else "its backlog grew until the end"
    return Standing(failed, Overload(test.fixed_rate, holds, why))


def failed_share(trials: Sequence[Trial]) -> float:
    """The share of the planned requests of some trials, 0 to 1, that failed or were never answered."""
    results = [trial.result for trial in trials if trial.result]
    planned = sum(result.planned for result in results)
    return sum(sum(result.failed.values()) for result in results) / planned if planned else 0.0


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
    error = stdev(backlog) / len(backlog) ** 0.5
    return bool(error == 0 or fmean(backlog) / error > STEADY)


def _held(trial: Trial, rate: float) -> bool:
    result = trial.result
    if result is None:
        return True
    if failed_share([trial]) > FAILED:
        return False
    if len(result.backlog) > 1:
        return not slices_pile_up(result.backlog, result.planned)
    return not backlog_grows(result.timeline, rate)
