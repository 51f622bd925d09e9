"""How long a test with a PostgreSQL next to the setup takes beyond its load."""

from __future__ import annotations

from collections.abc import Sequence

POSTGRESQL = "postgresql"
LEFT_AFTER_S = 10.0  # when the connections that are left are counted ...
SHORT_S, LEFT_AFTER_SHORT_S = 4.0, 1.0  # ... and after a load that is shorter than this
LEFT_SHARE = 0.7  # of that time, on average: a third of the setups of `connections` leave none, which ends the wait


def left_after_s(services: Sequence[str], measured_s: float) -> float:
    """How long after the load the connections that are left are counted; 0 where none are."""
    if POSTGRESQL not in services:
        return 0.0
    return LEFT_AFTER_S if measured_s >= SHORT_S else LEFT_AFTER_SHORT_S


def planned_left_s(services: Sequence[str], measured_s: float) -> float:
    """About how long that takes, over setups."""
    return LEFT_SHARE * left_after_s(services, measured_s)
