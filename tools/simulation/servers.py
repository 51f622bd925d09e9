"""Simulated servers of known capacity, probed in no time: one queue, requests at a fixed rate, no clock.

Each answers ``probe(rate, duration_s, rng)`` with what an engine would have measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapreplace
from math import exp, factorial, log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from loadtests.measure.searches.capacity import CapacitySearch, Probe, SearchedCapacity
from loadtests.measure.searches.judge import Outcome, ProbeFigures, judge, lost
from loadtests.plan.objective import Objective, SearchPlan
from loadtests.records import Second

Array = NDArray[np.float64]
ServiceTimes = Callable[[Array, np.random.Generator], Array]

BETWEEN_S = 1.5  # until the generator is ready and the server calm, before each probe


@dataclass(frozen=True)
class SimulatedServer:
    """``service_times`` gives seconds of work for requests that arrive at given times; ``capacity`` is the truth."""

    name: str
    capacity: float
    service_times: ServiceTimes
    refuses_over: float | None = None
    """The rate over which the excess gets a 503 at once."""
    generator_limit: float | None = None
    """The rate over which the generator, not this server, is the limit."""
    arrivals: str = "random"
    """When requests are due: at ``random`` moments or at ``even`` ones."""
    workers: int = 1
    """How many requests it works on at a time."""

    def probe(self, rate: float, duration_s: float, objective: Objective, rng: np.random.Generator) -> ProbeFigures:
        """One probe; stopped early, like a real one, once it is lost."""
        if self.generator_limit is not None and rate > self.generator_limit:
            limited = "the generator was close to the end of its core"
            return ProbeFigures(rate, int(rate * duration_s), 0, 0, {}, generator_limit=limited)
        sent = _moments(rate, duration_s, self.arrivals, rng)
        refused = np.zeros(len(sent), dtype=bool)
        if self.refuses_over is not None and rate > self.refuses_over:
            refused = rng.random(len(sent)) > self.refuses_over / rate
        work = np.where(refused, 0.0, self.service_times(sent, rng))
        answered = _leave(sent, work) if self.workers == 1 else _leave_workers(sent, work, self.workers)
        timeline = _timeline(sent, answered, refused, duration_s)
        seen = len(timeline)
        reason = None
        for second in range(1, len(timeline)):
            if reason := lost(timeline[:second], rate, duration_s, objective):
                seen = second
                break
        times = 1000 * (answered - sent)[~refused & (answered < seen if reason else True)]
        return ProbeFigures(
            rate=rate,
            planned=len(sent),
            ok=int(np.count_nonzero(~refused)),
            errors=int(np.count_nonzero(refused)),
            percentiles_ms={limit.key: float(np.percentile(times, limit.percentile)) for limit in objective.limits},
            timeline=timeline[:seen],
            lost=reason,
            over={limit.key: int(np.count_nonzero(times > limit.ms)) for limit in objective.limits},
        )


@dataclass(frozen=True)
class Searched:
    """A whole search: what it found, and after how many seconds there was a rate that passed and one that did not, and
    all was over."""

    found: SearchedCapacity
    bracket_s: float
    seconds: float


def search(server: SimulatedServer, plan: SearchPlan, objective: Objective, rng: np.random.Generator) -> Searched:
    """The whole search against a simulated server, with the time that passes between real probes."""
    machine = CapacitySearch(plan)
    seconds, bracket_s = 0.0, 0.0
    outcomes: set[bool] = set()
    while isinstance(step := machine.next(), Probe):
        measured = server.probe(step.rate, step.duration_s, objective, rng)
        seconds += BETWEEN_S + (len(measured.timeline) if measured.lost else step.duration_s)
        judgement = judge(measured, objective)
        outcomes.add(judgement.outcome is Outcome.PASS)
        if len(outcomes) > 1 and not bracket_s:
            bracket_s = seconds
        machine.record(judgement)
    return Searched(step, bracket_s, seconds)


def servers(objective: Objective, long_s: float) -> list[SimulatedServer]:
    """The servers that the search is tested on; a probe of ``long_s`` seconds is what decides the truth."""
    return [
        queue(1000, objective),
        queue(200, objective),
        queue(5000, objective),
        queue(1000, objective, "even"),
        several(8, 125, objective),
        general("constant service times, 400/s", 400, objective, _constant(400)),
        general("heavy-tailed service times, 1000/s", 1000, objective, _heavy_tailed(1000)),
        drifting(1000, objective),
        noisy(1000, objective, long_s),
        cliff(),
        leak(1000, objective, long_s),
        generator(),
    ]


def queue(speed: float, objective: Objective, arrivals: str = "random") -> SimulatedServer:
    """Exponential service times, ``speed`` requests per second: the textbook's M/M/1, evenly paced its D/M/1."""
    name = f"queue of {speed:g}/s" + (", evenly paced" if arrivals == "even" else "")
    capacity = m_m_1_capacity if arrivals == "random" else d_m_1_capacity
    return SimulatedServer(name, capacity(speed, objective), _exponential(speed), arrivals=arrivals)


def several(workers: int, speed: float, objective: Objective) -> SimulatedServer:
    """One queue before ``workers``, each with exponential service times, ``speed`` requests per second: M/M/c."""
    name = f"{workers} workers, {speed:g}/s each"
    capacity = m_m_c_capacity(workers, speed, objective)
    return SimulatedServer(name, capacity, _exponential(speed), workers=workers)


def general(name: str, speed: float, objective: Objective, service_times: ServiceTimes) -> SimulatedServer:
    """A queue of any service times, M/G/1. Its capacity is the rate at which its response times over an hour meet the
    limit."""

    def excess(rate: float) -> float:
        return _excess(service_times, rate, 3600, objective, "random", seed=0)

    return SimulatedServer(name, float(brentq(excess, 0.3 * speed, 0.999 * speed, xtol=0.001 * speed)), service_times)


def drifting(speed: float, objective: Objective) -> SimulatedServer:
    """An M/M/1, 3% faster or slower from probe to probe; its capacity is that of its usual speed."""

    def service_times(sent: Array, rng: np.random.Generator) -> Array:
        return rng.exponential(exp(rng.normal(0, 0.03)) / speed, len(sent))

    return SimulatedServer("drifting by 3%", m_m_1_capacity(speed, objective), service_times)


def noisy(speed: float, objective: Objective, long_s: float) -> SimulatedServer:
    """The same, 2% faster or slower from probe to probe, with a stall of 60 ms every 20 seconds or so.

    No formula gives its capacity: it is the rate at which half of 101 long probes are over the limit.
    """

    def service_times(sent: Array, rng: np.random.Generator) -> Array:
        work = rng.exponential(exp(rng.normal(0, 0.02)) / speed, len(sent))
        stalls = rng.uniform(0, float(sent[-1]), rng.poisson(float(sent[-1]) / 20))
        work[np.searchsorted(sent, stalls)] += 0.03
        return work

    def excess(rate: float) -> float:
        probes = [_excess(service_times, rate, long_s, objective, "random", seed) for seed in range(101)]
        return float(np.median(probes))

    return SimulatedServer("noisy", float(brentq(excess, 0.5 * speed, speed, xtol=0.002 * speed)), service_times)


def cliff(capacity: float = 700.0) -> SimulatedServer:
    """Quick at any rate up to its capacity; over it, what is too much gets a 503."""
    return SimulatedServer("cliff", capacity, _exponential(10 * capacity), refuses_over=capacity)


def leak(speed: float, objective: Objective, long_s: float) -> SimulatedServer:
    """Steady work that grows by 0.3% each second: a short probe passes at rates that a long one does not.

    The truth is that of the long probe, at whose end more and more requests wait for longer than the limit.
    Nothing in it is random, so one probe finds it.
    """
    growth = 0.003

    def service_times(sent: Array, rng: np.random.Generator) -> Array:
        return (1 + growth * sent) / speed

    def excess(rate: float) -> float:
        return _excess(service_times, rate, long_s, objective, "even", seed=0)

    capacity = float(brentq(excess, 0.5 * speed, speed, xtol=0.5))
    return SimulatedServer("slow leak", capacity, service_times, arrivals="even")


def generator(limit: float = 6000.0) -> SimulatedServer:
    """A server too fast for the generator: what is to be found is the generator's limit."""
    return SimulatedServer("generator-limited", limit, _exponential(20 * limit), generator_limit=limit)


def _exponential(speed: float) -> ServiceTimes:
    def service_times(sent: Array, rng: np.random.Generator) -> Array:
        return rng.exponential(1 / speed, len(sent))

    return service_times


def _constant(speed: float) -> ServiceTimes:
    def service_times(sent: Array, rng: np.random.Generator) -> Array:
        return np.full(len(sent), 1 / speed)

    return service_times


def _heavy_tailed(speed: float) -> ServiceTimes:
    """Log-normal, with a variance of 3.2 times the square of the mean."""
    sigma = 1.2

    def service_times(sent: Array, rng: np.random.Generator) -> Array:
        return rng.lognormal(-sigma * sigma / 2, sigma, len(sent)) / speed

    return service_times


def m_m_1_capacity(speed: float, objective: Objective) -> float:
    """The rate at which an M/M/1 queue's response times reach the limit (Kleinrock, Queueing Systems I, chapter 3).

    They are exponential with rate speed - rate, and the limit asks for a certain one.
    """
    return speed - _needed(speed, objective)


def _needed(speed: float, objective: Objective) -> float:
    """The rate of exponential response times that just meet the first limit. Raises ValueError where none can."""
    limit = objective.limits[0]
    needed = -log(limit.late_share) / (limit.ms / 1000)
    if needed >= speed:
        raise ValueError(f"a server of {speed:g} requests/s cannot meet {objective}")
    return needed


def m_m_c_capacity(workers: int, speed: float, objective: Objective) -> float:
    """The rate at which an M/M/c queue's response times reach the limit (Kleinrock, Queueing Systems I, chapter 3).

    By Erlang's C a request waits, for a time that is exponential with rate workers * speed - rate; then it is served.
    """
    limit = objective.limits[0]
    limit_s = limit.ms / 1000

    def excess(rate: float) -> float:
        load = rate / speed
        all_busy = load**workers / factorial(workers) / (1 - load / workers)
        waits = all_busy / (sum(load**busy / factorial(busy) for busy in range(workers)) + all_busy)
        leaving = workers * speed - rate
        both = (leaving * exp(-speed * limit_s) - speed * exp(-leaving * limit_s)) / (leaving - speed)
        return (1 - waits) * exp(-speed * limit_s) + waits * both - limit.late_share

    return float(brentq(excess, 0.01 * workers * speed, 0.999 * workers * speed))


def d_m_1_capacity(speed: float, objective: Objective) -> float:
    """The rate at which a D/M/1 queue's response times reach the limit (Kleinrock, Queueing Systems I, chapter 6).

    They are exponential with rate speed * (1 - s), where s solves s = exp(-speed * (1 - s) / rate); the limit asks
    for a certain speed * (1 - s), and the equation then gives the rate.
    """
    needed = _needed(speed, objective)
    return -needed / log(1 - needed / speed)


def _moments(rate: float, duration_s: float, arrivals: str, rng: np.random.Generator) -> Array:
    """When requests are due, in seconds after the start."""
    planned = int(rate * duration_s)
    return np.sort(rng.uniform(0, duration_s, planned)) if arrivals == "random" else np.arange(planned) / rate


def _excess(
    work: ServiceTimes, rate: float, duration_s: float, objective: Objective, arrivals: str, seed: int
) -> float:
    """By how many milliseconds a whole probe at that rate misses the first limit."""
    limit = objective.limits[0]
    rng = np.random.default_rng(seed)
    sent = _moments(rate, duration_s, arrivals, rng)
    times = _leave(sent, work(sent, rng)) - sent
    return 1000 * float(np.percentile(times, limit.percentile)) - limit.ms


def _leave(arrive: Array, work: Array) -> Array:
    """When each request is done by one server, first come, first served (Lindley's recursion, unrolled)."""
    done = np.cumsum(work)
    leave: Array = done + np.maximum.accumulate(arrive - done + work)
    return leave


def _leave_workers(arrive: Array, work: Array, workers: int) -> Array:
    """The same of several servers, of which the first that is free takes the next request."""
    free = [0.0] * workers
    leave = []
    for at, seconds in zip(arrive.tolist(), work.tolist(), strict=True):
        leave.append(max(at, free[0]) + seconds)
        heapreplace(free, leave[-1])
    return np.array(leave)


def _timeline(sent: Array, answered: Array, refused: NDArray[np.bool_], duration_s: float) -> list[Second]:
    seconds = int(np.ceil(duration_s))
    edges = np.arange(seconds + 1)
    counts = np.histogram(sent, edges)[0]
    second_of = np.searchsorted(edges, answered, side="right") - 1
    timeline = []
    for second in range(seconds):
        here = second_of == second
        times = 1000 * (answered - sent)[here & ~refused]
        p50, p99 = np.percentile(times, (50, 99)) if len(times) else (None, None)
        errors = int(np.count_nonzero(here & refused))
        ended = int(np.count_nonzero(here))
        timeline.append(Second(second, int(counts[second]), ended, ended - errors, errors, p50, p99))
    return timeline
