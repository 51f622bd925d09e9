"""Compare the measured rate with the limit of Little's law for requests that wait for an origin.

If a setup's threads or pool connections limit its concurrency, each thread or connection answers at most one request
during the origin's mean service time, however little CPU time a request costs. The origin measures its own service
time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

from loadtests.analyse.results import Results
from loadtests.formatting import plural
from loadtests.plan.kinds import Test
from loadtests.records import OriginObservation, Trial

AGREES = 0.03  # The start and the end of the load cause this relative error in a rate over a few seconds.
ERRORS_OF_CHANCE = 2.0  # The allowed difference of a count, in standard errors.
THREADS = re.compile(r"%\(ENV_(BENCH_)?THREADS\)s")  # Matches the supervisor file of a setup with a thread pool.
FETCH = "/fetch"  # Part of the path of each view that fetches through a connection pool.


@dataclass(frozen=True)
class Concurrency:
    """The number of requests that can run at the same time, and the reason, such as ``16 threads``."""

    limit: int
    reason: str


@dataclass(frozen=True)
class Waiting:
    """A setup in a test in which each request waits for an origin with a constant latency. Rates are per second.

    ``own`` is the setup's concurrency, and ``effective`` is the smaller of ``own`` and the number of the test's
    connections. ``service_s`` is the origin's mean service time. ``sent`` is the rate of sent requests (None in a
    closed loop), and ``measured`` is the rate of successful ``answers``. The setup used ``cpu_cores`` for these
    answers. ``grew_mb`` is the growth of the setup's memory from rest to peak. If the load generator gave up requests
    (``given_up``), the calculation doesn't hold, because threads still work on these requests.
    """

    label: str
    own: Concurrency
    effective: Concurrency
    service_s: float
    sent: float | None
    measured: float
    answers: int
    cpu_cores: float
    grew_mb: float | None
    given_up: int

    @property
    def each_kb(self) -> float | None:
        """The memory per request that waits for the origin. Rate times service time is the number of such requests."""
        under_way = self.measured * self.service_s
        return self.grew_mb * 1024 / under_way if self.grew_mb is not None and under_way else None

    @property
    def ceiling(self) -> float:
        return self.effective.limit / self.service_s

    @property
    def expected(self) -> float:
        return self.ceiling if self.sent is None else min(self.sent, self.ceiling)

    @property
    def off(self) -> float:
        return self.measured / self.expected - 1

    @property
    def tolerance(self) -> float:
        """The allowed relative difference from the expected rate. More answers make a rate more accurate."""
        return max(AGREES, ERRORS_OF_CHANCE / sqrt(self.answers)) if self.answers else 1.0

    @property
    def agrees(self) -> bool:
        return abs(self.off) <= self.tolerance


def waiting(results: Results, test: Test) -> list[Waiting]:
    """Return the setups for which the limit of Little's law can be calculated in a test."""
    found = (_of_setup(results, test, label) for label in results.labels_in(test.name))
    return [one for one in found if one is not None]


def _of_setup(results: Results, test: Test, label: str) -> Waiting | None:
    own = _concurrency(results, test, label)
    trials = [
        (trial, trial.result, origin)
        for trial in results.cells[label, test.name].valid
        if trial.result and (origin := _steady(trial)) is not None
    ]
    if own is None or not trials or test.search is not None:
        return None
    connections = getattr(test.pace, "connections", None)
    of_test = own if connections is None else Concurrency(connections, plural(connections, "connection"))
    measured = [result.rate for _, result, _ in trials]
    request_s, requests = (sum(getattr(origin, key) for *_, origin in trials) for key in ("request_s", "requests"))
    return Waiting(
        label,
        own,
        min(own, of_test, key=lambda one: one.limit),
        request_s / requests,
        # With random arrivals, the rate of sent requests differs from the nominal rate.
        fmean(result.planned / result.duration_s for _, result, _ in trials) if test.fixed_rate is not None else None,
        fmean(measured),
        sum(result.ok for _, result, _ in trials),
        fmean(sum(process.cpu_s for process in trial.charged) / result.duration_s for trial, result, _ in trials),
        _grew_mb([trial for trial, *_ in trials]),
        sum(result.unfinished + result.errors.get("timeout", 0) for _, result, _ in trials),
    )


def _grew_mb(trials: Sequence[Trial]) -> float | None:
    """Return the mean growth of a setup's memory from rest to peak, or None if it wasn't measured at rest."""
    grown = [
        [process.peak_rss_mb - process.idle_rss_mb for process in trial.charged if process.idle_rss_mb is not None]
        for trial in trials
    ]
    return fmean(sum(each) for each in grown) if all(grown) else None


def _steady(trial: Trial) -> OriginObservation | None:
    """Return the observation of a trial's origin if the origin was healthy and its latency was constant."""
    origin = trial.meanwhile.origin if trial.meanwhile else None
    return origin if origin is not None and origin.steady and origin.requests and origin.request_s else None


def _concurrency(results: Results, test: Test, label: str) -> Concurrency | None:
    """Return the number of the setup's threads or pool connections, whichever is smaller, or None if unknown."""
    if not any(FETCH in request.path for request in test.requests):
        return None
    entry = next(entry for entry in results.study.entries if entry.label == label)
    knobs = {**results.record.knobs, **{name: value for name, value in entry.env.items() if value}}
    workers = _whole(knobs, "WORKERS")
    setup = results.setup(label)
    limits = []
    if setup.interface == "wsgi" and THREADS.search(setup.config):
        limits.append((workers * _whole(knobs, "THREADS"), "thread"))
    if knobs.get("POOL_SIZE"):
        limits.append((workers * _whole(knobs, "POOL_SIZE") * _whole(knobs, "POOLS"), "connection of the pool"))
    if not limits:
        return None
    many, what = min(limits)
    return Concurrency(many, plural(many, what, f"{what}s" if what == "thread" else "connections of the pool"))


def _whole(knobs: Mapping[str, str], name: str) -> int:
    value = knobs.get(name, "")
    return int(value) if value.isdecimal() and int(value) else 1
