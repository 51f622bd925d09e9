"""Decide whether a closed loop found a setup's limit, or only a lower bound of its throughput.

A closed loop finds the limit of a setup if it keeps the servers' cores full. If the setup waits for the load generator
or for new connections instead, it could answer more requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from loadtests.plan.kinds import Test
from loadtests.records import Trial

FULL = 0.90
SERVER_ROLES = ("web", "worker", "proxy")  # other roles are services, which SERVICES_CORES can move to other cores


def busy_share(trial: Trial) -> float | None:
    """Return how busy the servers' cores were in a trial, as a share of the time that other load didn't use.

    The CPU time of services on these cores is included. A single worker can't use several cores, so if one process
    keeps a core busy, the servers' cores are also regarded as busy.

    Returns:
        The share, or None if the trial doesn't contain the CPU time of all processes.
    """
    result, cores = trial.result, trial.cores.get("servers", ())
    if result is None or not result.ok or not result.duration_s or not cores or not trial.charged:
        return None
    services_apart = set(trial.cores.get("services", cores)) != set(cores)
    own = [one.cpu_s for one in trial.processes if not services_apart or one.role in SERVER_ROLES]
    # The processes were observed for longer than the measured load, so their CPU time includes the cost of more
    # requests.
    billed = result.ok if result.billed is None else result.billed
    if not own or not billed:
        return None
    available_s = result.duration_s * billed / result.ok * (1 - (trial.evidence.other_load or 0.0))
    return max(sum(own) / len(cores), max(own)) / available_s if available_s > 0 else None


def is_lower_bound(test: Test, trials: Sequence[Trial]) -> bool:
    """Check whether the throughput of a setup in a test is only a lower bound.

    The median of the valid trials decides whether the servers' cores were full, because a single trial may have been
    disturbed. If the views wait on purpose, a test reaches the setup's limit even if the cores are idle.
    """
    if not test.pace.is_closed_loop:
        return False
    if any(trial.generator_limits for trial in trials):
        return True
    shares = [share for trial in trials if (share := busy_share(trial)) is not None]
    return not test.waits_on_purpose and bool(shares) and median(shares) < FULL
