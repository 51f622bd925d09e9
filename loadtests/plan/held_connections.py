"""What trials count of the connections to a PostgreSQL next to the setup."""

from __future__ import annotations

from collections.abc import Callable

from loadtests.plan.trial_count import TrialCount
from loadtests.records import Trial
from loadtests.records.trial import IDLE, IN_TRANSACTION, LEFT, OPEN, OPENED, REFUSED


def _most(name: str) -> Callable[[Trial], float | None]:
    return lambda trial: max((value for _, value in trial.gauges[name]), default=None) if name in trial.gauges else None


def _opened(trial: Trial) -> float | None:
    opened, result = _most(OPENED)(trial), trial.result
    return opened / result.completed * 1000 if opened is not None and result and result.completed else None


HELD = TrialCount("open", "most database connections open at once", _most(OPEN))
PER_1000 = TrialCount("opened/1,000 requests", "database connections opened for 1,000 requests", _opened)
BEHIND = TrialCount("left", "database connections left behind", _most(LEFT))
TOO_MANY = TrialCount("too many clients", "database connections refused", _most(REFUSED), summed=True, bad=True)
COUNTED = (
    HELD,
    TrialCount("idle", "most idle database connections", _most(IDLE)),
    TrialCount("idle in transaction", "most connections idle in a transaction", _most(IN_TRANSACTION), bad=True),
    PER_1000,
    BEHIND,
    TOO_MANY,
)
