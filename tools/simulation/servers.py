"""Simulate servers whose capacity is known, and searches for this capacity.

A server is a queue of requests that arrive at a fixed rate. The simulation calculates all times, so it doesn't wait.
``probe(rate, duration_s, objective, rng)`` returns the figures that a load generator would measure.
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

BETWEEN_S = 1.5  # time before each probe, in which the generator gets ready and the server becomes idle


@dataclass(frozen=True)
class SimulatedServer:
    """A simulated server.

    ``service_times`` accepts the arrival times of requests, and returns their service times in seconds. ``capacity`` is
    the true capacity.
    """

    name: str
    capacity: float
    service_times: ServiceTimes
    refuses_over: float | None = None
    """The server immediately answers requests above this rate with status 503."""
    generator_limit: float | None = None
    """The load generator is saturated above this rate."""
    arrivals: str = "random"
    """The arrivals of requests: ``random`` or ``even``."""
    workers: int = 1
    """The number of requests that the server handles at the same time."""

    def probe(self, rate: float, duration_s: float, objective: Objective, rng: np.random.Generator) -> ProbeFigures:
        """Simulate a probe. Like a real probe, the simulated probe stops early if it can't pass any more."""
        if self.generator_limit is not None and rate > self.generator_limit:
            limited = "the generator was saturated"
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
    """The result of a simulated search.

    ``bracket_s`` is the time until at least one rate has passed and another rate has failed. ``seconds`` is the total
    time.
    """

    found: SearchedCapacity
    bracket_s: float
    seconds: float


def search(server: SimulatedServer, plan: SearchPlan, objective: Objective, rng: np.random.Generator) -> Searched:
    """Search the capacity of a simulated server. The time includes the pauses between real probes."""
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
    """Return the servers for the simulated searches. Probes of ``long_s`` seconds define some true capacities."""
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
    """Return a server with exponential service times: M/M/1, or D/M/1 with even arrivals.

    ``speed`` is the mean number of requests per second that a busy server handles.
    """
    name = f"queue of {speed:g}/s" + (", evenly paced" if arrivals == "even" else "")
    capacity = m_m_1_capacity if arrivals == "random" else d_m_1_capacity
    return SimulatedServer(name, capacity(speed, objective), _exponential(speed), arrivals=arrivals)


def several(workers: int, speed: float, objective: Objective) -> SimulatedServer:
    """Return a server with several workers that share a queue: M/M/c.

    The service times are exponential. ``speed`` is the mean number of requests per second that a busy worker handles.
    """
    name = f"{workers} workers, {speed:g}/s each"
    capacity = m_m_c_capacity(workers, speed, objective)
    return SimulatedServer(name, capacity, _exponential(speed), workers=workers)


def general(name: str, speed: float, objective: Objective, service_times: ServiceTimes) -> SimulatedServer:
    """Return a server with the given service times: M/G/1.

    At the capacity, the response times in a simulated hour just meet the first limit.
    """

    def excess(rate: float) -> float:
        return _excess(service_times, rate, 3600, objective, "random", seed=0)

    return SimulatedServer(name, float(brentq(excess, 0.3 * speed, 0.999 * speed, xtol=0.001 * speed)), service_times)


def drifting(speed: float, objective: Objective) -> SimulatedServer:
    """Return an M/M/1 server whose speed varies by 3% between probes. The capacity applies to its median speed."""

    def service_times(sent: Array, rng: np.random.Generator) -> Array:
        return rng.exponential(exp(rng.normal(0, 0.03)) / speed, len(sent))

    return SimulatedServer("drifting by 3%", m_m_1_capacity(speed, objective), service_times)


def noisy(speed: float, objective: Objective, long_s: float) -> SimulatedServer:
    """Return an M/M/1 server whose speed varies by 2% between probes, and that stalls about every 20 seconds.

    No formula exists for its capacity. At the capacity, half of 101 long probes exceed the limit.
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
    """Return a server that is fast up to its capacity, and answers requests above it with status 503."""
    return SimulatedServer("cliff", capacity, _exponential(10 * capacity), refuses_over=capacity)


def leak(speed: float, objective: Objective, long_s: float) -> SimulatedServer:
    """Return a server whose service times aren't random, but grow by 0.3% each second.

    A short probe can pass while a long probe at the same rate fails, because more and more requests exceed the limit.
    The long probe defines the true capacity. Nothing is random, so one probe is enough.
    """
    growth = 0.003

    def service_times(sent: Array, rng: np.random.Generator) -> Array:
        return (1 + growth * sent) / speed

    def excess(rate: float) -> float:
        return _excess(service_times, rate, long_s, objective, "even", seed=0)

    capacity = float(brentq(excess, 0.5 * speed, speed, xtol=0.5))
    return SimulatedServer("slow leak", capacity, service_times, arrivals="even")


def generator(limit: float = 6000.0) -> SimulatedServer:
    """Return a server that is too fast for the load generator, so that searches should find the generator's limit."""
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
    """Return log-normal service times whose variance is 3.2 times the square of their mean."""
    sigma = 1.2

    def service_times(sent: Array, rng: np.random.Generator) -> Array:
        return rng.lognormal(-sigma * sigma / 2, sigma, len(sent)) / speed

    return service_times


def m_m_1_capacity(speed: float, objective: Objective) -> float:
    """Return the capacity of an M/M/1 queue (Kleinrock, Queueing Systems I, chapter 3).

    The response times are exponential with the rate speed - arrival rate, which must be at least ``_needed``.
    """
    return speed - _needed(speed, objective)


def _needed(speed: float, objective: Objective) -> float:
    """Return the rate parameter of exponential response times that just meet the first limit.

    Raises:
        ValueError: If the server doesn't even meet the limit without a queue.
    """
    limit = objective.limits[0]
    needed = -log(limit.late_share) / (limit.ms / 1000)
    if needed >= speed:
        raise ValueError(f"a server of {speed:g} requests/s cannot meet {objective}")
    return needed


def m_m_c_capacity(workers: int, speed: float, objective: Objective) -> float:
    """Return the capacity of an M/M/c queue (Kleinrock, Queueing Systems I, chapter 3).

    Erlang's C formula gives the probability that a request waits. Waits are exponential with the rate
    workers * speed - arrival rate. The response time is the sum of the wait and the service time.
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
    """Return the capacity of a D/M/1 queue (Kleinrock, Queueing Systems I, chapter 6).

    The response times are exponential with the rate speed * (1 - s), where s = exp(-speed * (1 - s) / arrival rate).
    The limit determines speed * (1 - s), and so the arrival rate.
    """
    needed = _needed(speed, objective)
    return -needed / log(1 - needed / speed)


def _moments(rate: float, duration_s: float, arrivals: str, rng: np.random.Generator) -> Array:
    """Return the due times of the requests, in seconds after the start."""
    planned = int(rate * duration_s)
    return np.sort(rng.uniform(0, duration_s, planned)) if arrivals == "random" else np.arange(planned) / rate


def _excess(
    work: ServiceTimes, rate: float, duration_s: float, objective: Objective, arrivals: str, seed: int
) -> float:
    """Return by how many milliseconds a complete probe at this rate exceeds the first limit."""
    limit = objective.limits[0]
    rng = np.random.default_rng(seed)
    sent = _moments(rate, duration_s, arrivals, rng)
    times = _leave(sent, work(sent, rng)) - sent
    return 1000 * float(np.percentile(times, limit.percentile)) - limit.ms


def _leave(arrive: Array, work: Array) -> Array:
    """Return when each request ends, in a server that handles them one by one (Lindley's recursion, unrolled)."""
    done = np.cumsum(work)
    leave: Array = done + np.maximum.accumulate(arrive - done + work)
    return leave


def _leave_workers(arrive: Array, work: Array, workers: int) -> Array:
    """Return when each request ends, in a server whose first free worker handles the next request."""
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
