"""Estimate the additional time of a test that runs PostgreSQL next to the setup."""

from __future__ import annotations

from collections.abc import Sequence

POSTGRESQL = "postgresql"
LEFT_AFTER_S = 10.0  # The run counts the remaining connections this many seconds after a load.
SHORT_S, LEFT_AFTER_SHORT_S = 4.0, 1.0  # After a load of less than 4 s, it counts them after 1 s.
# The average share of this time. A third of the setups in the study `connections` leave no connections, which ends the
# wait early.
LEFT_SHARE = 0.7


def left_after_s(services: Sequence[str], measured_s: float) -> float:
    """Return how many seconds after the load the run counts the remaining connections, or 0 without PostgreSQL."""
    if POSTGRESQL not in services:
        return 0.0
    return LEFT_AFTER_S if measured_s >= SHORT_S else LEFT_AFTER_SHORT_S


def planned_left_s(services: Sequence[str], measured_s: float) -> float:
    """Return the expected seconds until the remaining connections are counted, averaged over setups."""
    return LEFT_SHARE * left_after_s(services, measured_s)
