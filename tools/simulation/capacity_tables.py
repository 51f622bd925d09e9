"""The tables of the search for a capacity."""

from __future__ import annotations

import numpy as np

from loadtests.measure.searches.judge import Outcome
from loadtests.measure.searches.settle import leaning
from loadtests.plan.objective import Limit, Objective, SearchPlan
from tools.simulation.servers import decide, m_m_1_capacity, queue, search, servers
from tools.simulation.tabular import SimulatedTable

# Blocks in a study of capacity: its figure is their median.
SEARCHES_A_STUDY = 5
# Of decisions about a limit of 50 ms: what the simulated servers can do per second, and their p99 at the rates tried.
SPEEDS = (200.0, 1000.0)
P99S_MS = (38.0, 44.0, 57.0, 66.0)


def capacity_table(searches: int, seed: int) -> SimulatedTable:
    """Found against true capacity of the simulated servers."""
    objective = Objective()
    plan = SearchPlan(requests=objective.requests)
    rows = []
    for server in servers(objective, plan.long_s):
        found = [search(server, plan, objective, np.random.default_rng(seed + i)) for i in range(searches)]
        errors = np.array([(one.rate or 0.0) / server.capacity - 1 for one in found])
        whole = len(errors) - len(errors) % SEARCHES_A_STUDY
        medians = np.median(errors[:whole].reshape(-1, SEARCHES_A_STUDY), axis=1)
        probes = [len(one.records) for one in found]
        seconds = [one.seconds for one in found]
        rows.append(
            (
                server.name,
                f"{server.capacity:.0f}",
                _signed(np.median(errors)),
                f"{_signed(errors.min())} to {_signed(errors.max())}",
                f"{np.mean(abs(errors) <= 0.05):.0%}",
                f"{np.mean(abs(medians) <= 0.05):.0%}",
                ", ".join(sorted({one.limited_by.value for one in found})),
                f"{np.mean(probes):.0f} (at most {max(probes)})",
                f"{np.mean(seconds):.0f} s (at most {max(seconds):.0f} s)",
            )
        )
    header = (
        "server",
        "true capacity, requests/s",
        "median error",
        "errors",
        "searches within 5%",
        f"medians of {SEARCHES_A_STUDY} within 5%",
        "limited by",
        "probes",
        "measured time",
    )
    title = f"Capacity found in {searches} searches of each simulated server, for {objective}"
    return SimulatedTable("simulation-capacity", title, header, rows)


def decisions_table(times: int, seed: int) -> SimulatedTable:
    """Whether a rate passes, decided by one long probe and as a search does, of queues whose p99 is known."""
    objective = Objective()
    plan = SearchPlan(requests=objective.requests)
    rows = []
    for speed in SPEEDS:
        server = queue(speed, objective)
        for p99 in P99S_MS:
            rate = m_m_1_capacity(speed, Objective((Limit(99.0, p99),)))
            right = Outcome.PASS if p99 < objective.limits[0].ms else Outcome.FAIL
            asked = [decide(server, rate, plan, objective, np.random.default_rng(seed + i)) for i in range(times)]
            probes = np.mean([len(probes) for probes in asked])
            rows.append(
                (
                    server.name,
                    f"{p99:.0f} ms",
                    f"{rate / server.capacity:.1%}",
                    f"{np.mean([probes[0].outcome is right for probes in asked]):.0%}",
                    f"{np.mean([leaning(probes) is right for probes in asked]):.0%}",
                    f"{probes:.1f}",
                )
            )
    header = ("server", "true p99", "rate, of its capacity", "one probe is right", "the search is right", "probes")
    title = f"Decisions whether a rate is within {objective}, in {times} tries a row"
    return SimulatedTable("simulation-decisions", title, header, rows)


def _signed(share: float) -> str:
    # The sum turns a negative zero into a plain one.
    return f"{round(float(share), 3) + 0.0:+.1%}"
