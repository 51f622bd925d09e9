"""What waiting for an origin allows by arithmetic, and what was measured.

By Little's law as many requests are under way as come in a second, times the seconds that each stays. So a setup that
can have so many under way at a time, because it has so many threads or so many connections in its pool, answers at most
that number over the origin's mean service time, whatever its server costs. The service time is the one that the origin
itself saw, and the mean one: that is what the law is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

from loadtests.analyse.results import Results
from loadtests.formatting import plural
from loadtests.plan.kinds import Test
from loadtests.records import OriginObservation, Result, Trial

AGREES = 0.03  # of the figure: what a ceiling of so many seconds, started and stopped at some moment, is off by
ERRORS_OF_CHANCE = 2.0  # standard errors of a count
THREADS = "%(ENV_THREADS)s"  # stands in the supervisor file of a setup that has a pool of threads
FETCH = "/fetch"  # is in the path of a view that fetches through a pool


@dataclass(frozen=True)
class AtOnce:
    """How many requests a setup can have under way at a time, and by what: ``16 threads``."""

    many: int
    of: str


@dataclass(frozen=True)
class Waiting:
    """A setup in a test in which each request waits for an origin of constant latency. Rates are per second.

    ``own`` is what the setup can have under way, and ``at_once`` the least of that and of what the test asks over.
    ``expected`` is ``at_once`` over ``service_s``, the origin's mean service time, or what was ``sent`` where that is
    less; ``sent`` is None in a closed loop. ``measured`` is what was answered well, ``answers`` how many that were, and
    ``cpu_cores`` what the setup took for it; ``grew_mb`` is by how much its memory grew from rest to its peak, None
    where it was not seen at rest. ``given_up`` requests had no answer in their time: a thread that works for somebody
    who has left is no less busy, so that the arithmetic is then not what is to be held.
    """

    label: str
    own: AtOnce
    at_once: AtOnce
    service_s: float
    sent: float | None
    measured: float
    answers: int
    cpu_cores: float
    grew_mb: float | None
    given_up: int

    @property
    def each_kb(self) -> float | None:
        """The memory that each request took that was under way at the origin; by Little's law that were as many as
        were answered in a second times the seconds that each was there. None where it is not known."""
        under_way = self.measured * self.service_s
        return self.grew_mb * 1024 / under_way if self.grew_mb is not None and under_way else None

    @property
    def ceiling(self) -> float:
        """The most that it can answer in a second."""
        return self.at_once.many / self.service_s

    @property
    def expected(self) -> float:
        """What it should answer in a second."""
        return self.ceiling if self.sent is None else min(self.sent, self.ceiling)

    @property
    def off(self) -> float:
        """By what share the measurement differs."""
        return self.measured / self.expected - 1

    @property
    def tolerance(self) -> float:
        """By what share it may differ and agree: a rate is known no better than by the count that it is made of."""
        return max(AGREES, ERRORS_OF_CHANCE / sqrt(self.answers)) if self.answers else 1.0

    @property
    def agrees(self) -> bool:
        """Whether arithmetic and measurement are one."""
        return abs(self.off) <= self.tolerance


def waiting(results: Results, test: Test) -> list[Waiting]:
    """Of each setup in a test for which there is such arithmetic, in the order of the study."""
    found = (_of_setup(results, test, label) for label in results.labels_in(test.name))
    return [one for one in found if one is not None]


def _of_setup(results: Results, test: Test, label: str) -> Waiting | None:
    own = _own(results, test, label)
    trials = [
        (trial, trial.result, origin)
        for trial in results.cells[label, test.name].valid
        if trial.result and (origin := _steady(trial)) is not None
    ]
    if own is None or not trials or test.search is not None:
        return None
    asked_over = getattr(test, "connections", None)
    over_all = own if asked_over is None else AtOnce(asked_over, plural(asked_over, "connection"))
    measured = [result.rate for _, result, _ in trials]
    request_s, requests = (sum(getattr(origin, key) for *_, origin in trials) for key in ("request_s", "requests"))
    return Waiting(
        label,
        own,
        min(own, over_all, key=lambda one: one.many),
        request_s / requests,
        fmean(_sent(result) for _, result, _ in trials) if test.fixed_rate is not None else None,
        fmean(measured),
        sum(result.ok for _, result, _ in trials),
        fmean(sum(process.cpu_s for process in trial.charged) / result.duration_s for trial, result, _ in trials),
        _grew_mb([trial for trial, *_ in trials]),
        sum(result.unfinished + result.errors.get("timeout", 0) for _, result, _ in trials),
    )


def _grew_mb(trials: Sequence[Trial]) -> float | None:
    """By how much the processes of a setup grew from rest to their peak, on average."""
    grown = [
        [process.peak_rss_mb - process.idle_rss_mb for process in trial.charged if process.idle_rss_mb is not None]
        for trial in trials
    ]
    return fmean(sum(each) for each in grown) if all(grown) else None


def _steady(trial: Trial) -> OriginObservation | None:
    """The origin of a trial, where a mean says all of it: well, and with one latency."""
    origin = trial.meanwhile.origin if trial.meanwhile else None
    return origin if origin is not None and origin.steady and origin.requests and origin.request_s else None


def _sent(result: Result) -> float:
    """The rate that was really asked for: at random moments it is not the nominal one."""
    return result.planned / result.duration_s


def _own(results: Results, test: Test, label: str) -> AtOnce | None:
    """The least of what the setup has of threads and of connections to the origin; None where neither is known."""
    if not any(FETCH in request.path for request in test.requests):
        return None
    entry = next(entry for entry in results.study.entries if entry.label == label)
    knobs = {**results.record.knobs, **{name: value for name, value in entry.env.items() if value}}
    workers = _whole(knobs, "WORKERS")
    setup = results.setup(label)
    limits = []
    if setup.interface == "wsgi" and THREADS in setup.config:
        limits.append((workers * _whole(knobs, "THREADS"), "thread"))
    if knobs.get("POOL_SIZE"):
        limits.append((workers * _whole(knobs, "POOL_SIZE") * _whole(knobs, "POOLS"), "connection of the pool"))
    if not limits:
        return None
    many, what = min(limits)
    return AtOnce(many, plural(many, what, f"{what}s" if what == "thread" else "connections of the pool"))


def _whole(knobs: Mapping[str, str], name: str) -> int:
    value = knobs.get(name, "")
    return int(value) if value.isdecimal() and int(value) else 1
