"""Create the table that shows how accurate searches for a capacity are."""

from __future__ import annotations

import numpy as np

from loadtests.plan.objective import Objective, SearchPlan
from tools.simulation.servers import search, servers
from tools.simulation.tabular import SimulatedTable

# The number of blocks in a capacity study, which reports their median.
SEARCHES_A_STUDY = 5


def capacity_table(searches: int, seed: int) -> SimulatedTable:
    """Compare the capacities found in searches with the true capacities of the simulated servers."""
    objective = Objective()
    plan = SearchPlan(requests=objective.requests)
    rows = []
    for server in servers(objective, plan.long_s):
        found = [search(server, plan, objective, np.random.default_rng(seed + i)) for i in range(searches)]
        errors = np.array([(one.found.rate or 0.0) / server.capacity - 1 for one in found])
        whole = len(errors) - len(errors) % SEARCHES_A_STUDY
        medians = np.median(errors[:whole].reshape(-1, SEARCHES_A_STUDY), axis=1)
        probes = [len(one.found.records) for one in found]
        brackets = [one.bracket_s for one in found]
        seconds = [one.seconds for one in found]
        rows.append(
            (
                server.name,
                f"{server.capacity:.0f}",
                _signed(np.median(errors)),
                f"{_signed(errors.min())} to {_signed(errors.max())}",
                f"{np.sqrt(np.mean(errors**2)):.1%}",
                f"{np.mean(errors > 0):.0%}",
                f"{np.mean(abs(errors) <= 0.05):.0%}",
                f"{np.mean(abs(medians) <= 0.05):.0%}",
                ", ".join(sorted({one.found.limited_by.value for one in found})),
                f"{np.mean(probes):.0f} (at most {max(probes)})",
                f"{np.mean(brackets):.0f} s",
                f"{np.mean(seconds):.0f} s (at most {max(seconds):.0f} s)",
            )
        )
    header = (
        "server",
        "true capacity, requests/s",
        "median error",
        "errors",
        "root mean square error",
        "too high",
        "searches within 5%",
        f"medians of {SEARCHES_A_STUDY} within 5%",
        "limited by",
        "probes",
        "first bracket after",
        "time",
    )
    title = f"Capacity found in {searches} searches of each simulated server, for {objective}"
    return SimulatedTable("simulation-capacity", title, header, rows)


def _signed(share: float) -> str:
    # Adding 0.0 turns -0.0 into 0.0.
    return f"{round(float(share), 3) + 0.0:+.1%}"
