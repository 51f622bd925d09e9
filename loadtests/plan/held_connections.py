"""Define the counts of connections to the PostgreSQL database that runs next to a setup."""

from __future__ import annotations

from collections.abc import Callable

from loadtests.plan.trial_count import TrialCount
from loadtests.records import Trial
from loadtests.records.trial import (
    AT_PGBOUNCER,
    IDLE,
    IN_TRANSACTION,
    LEFT,
    OPEN,
    OPENED,
    POOL_WAIT_MS,
    POOL_WAITS,
    REFUSED,
)


def _most(name: str) -> Callable[[Trial], float | None]:
    return lambda trial: max((value for _, value in trial.gauges[name]), default=None) if name in trial.gauges else None


def _last(name: str) -> Callable[[Trial], float | None]:
    return lambda trial: trial.gauges[name][-1][1] if trial.gauges.get(name) else None


def _per_1000(name: str) -> Callable[[Trial], float | None]:
    def read(trial: Trial) -> float | None:
        count, result = _last(name)(trial), trial.result
        return count / result.completed * 1000 if count is not None and result and result.completed else None

    return read


def _wait_ms(trial: Trial) -> float | None:
    waits, total_ms = _last(POOL_WAITS)(trial), _last(POOL_WAIT_MS)(trial)
    return total_ms / waits if waits and total_ms is not None else None


HELD = TrialCount("open", "most database connections open at once", _most(OPEN))
PER_1000 = TrialCount("opened/1,000 requests", "database connections opened for 1,000 requests", _per_1000(OPENED))
BEHIND = TrialCount("left", "database connections left behind", _last(LEFT))
TOO_MANY = TrialCount("too many clients", "database connections refused", _last(REFUSED), summed=True, bad=True)
COUNTED = (
    HELD,
    TrialCount("idle", "most idle database connections", _most(IDLE)),
    TrialCount("idle in transaction", "most connections idle in a transaction", _most(IN_TRANSACTION), bad=True),
    PER_1000,
    BEHIND,
    TOO_MANY,
    TrialCount("at PgBouncer", "most connections to PgBouncer", _most(AT_PGBOUNCER)),
    TrialCount("pool waits/1,000 requests", "waits for Django's pool for 1,000 requests", _per_1000(POOL_WAITS)),
    TrialCount("ms/pool wait", "milliseconds of a wait for Django's pool", _wait_ms),
)
