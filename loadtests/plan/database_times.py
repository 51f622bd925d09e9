"""Estimate the extra time of a test with PostgreSQL next to the setup."""

from __future__ import annotations

from collections.abc import Sequence

POSTGRESQL = "postgresql"
LEFT_AFTER_S = 10.0  # when the run counts the connections that are left ...
SHORT_S, LEFT_AFTER_SHORT_S = 4.0, 1.0  # ... and after a load that is shorter than this
# The average share of that time. A third of the setups of `connections` leave no connections, which ends the wait.
LEFT_SHARE = 0.7


def left_after_s(services: Sequence[str], measured_s: float) -> float:
    """Return the seconds after the load until the run counts the connections that are left. 0 means that it doesn't."""
    if POSTGRESQL not in services:
        return 0.0
    return LEFT_AFTER_S if measured_s >= SHORT_S else LEFT_AFTER_SHORT_S


def planned_left_s(services: Sequence[str], measured_s: float) -> float:
    """Return the expected seconds of that wait, averaged over setups."""
    return LEFT_SHARE * left_after_s(services, measured_s)
