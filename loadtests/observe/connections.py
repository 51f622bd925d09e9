"""Count the connections to a setup's PostgreSQL database during a load, in pg_stat_activity.

The connections are counted ten times per second over a separate connection, which isn't included. The counts are stored
with the setup's gauges (``loadtests.observe.gauges``). The module also counts the connections to PgBouncer, if it runs,
and reads how long the sample project's requests waited for Django's pool. A setup without the service ``postgresql``
isn't observed.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from loadtests.errors import UserError, shown_end
from loadtests.observe.gauges import EVERY_S, GaugeFiles, Series
from loadtests.observe.sampler import Sampler
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
    Reading,
)

POSTGRESQL_URL = "postgresql.url"  # A file in RUN_DIR, which supervisor/postgresql.sh writes.
LOGS = ("postgresql.log", "pgbouncer.log")  # The logs in RUN_DIR of the servers that run as services.
PGBOUNCER, PGBOUNCER_PORT = "pgbouncer", 6432  # The database with PgBouncer's statistics, and the port of its socket.
POOL_FILES = "database-pool-*"  # A file for each process, which testproject/endpoints/pool_waits.py writes.
REFUSALS = (b"too many clients already", b"remaining connection slots are reserved", b"no more connections allowed")
LEFT_EVERY_S = 1.0
NAMES = (OPEN, IDLE, IN_TRANSACTION, AT_PGBOUNCER)
COUNTS = """
SELECT count(*), count(*) FILTER (WHERE state = 'idle'), count(*) FILTER (WHERE state LIKE 'idle in transaction%')
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
SESSIONS = "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"  # since PostgreSQL 14


class ConnectionWatch:
    """Count the connections to PostgreSQL from ``begin`` to ``end``. A file in ``folder`` contains the address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sampler = Sampler(self._sample, EVERY_S)
        self._pools = GaugeFiles(folder, files=POOL_FILES)
        self._connection: Any = None
        self._pgbouncer: Any = None
        self._knows_refused = False
        self._begun = 0.0
        self._before: dict[str, int] = {}
        self._read: list[tuple[float, tuple[int, ...]]] = []

    def begin(self) -> None:
        """Start counting, if the folder contains the address of a PostgreSQL server.

        Raises:
            UserError: If the connection for counting can't be opened.
        """
        file = self._folder / POSTGRESQL_URL
        if not file.is_file():
            return
        address = file.read_text(encoding="utf-8").strip()
        import psycopg  # imported late, because setups without PostgreSQL don't need this package

        try:
            self._connection = psycopg.connect(address, autocommit=True)
            if (self._folder / f".s.PGSQL.{PGBOUNCER_PORT}").exists():
                self._pgbouncer = psycopg.connect(
                    f"postgresql://{PGBOUNCER}@/{PGBOUNCER}?host={self._folder}&port={PGBOUNCER_PORT}",
                    autocommit=True,
                    prepare_threshold=None,  # PgBouncer's statistics don't support prepared statements
                )
        except psycopg.OperationalError as error:  # for example because other programs use all connections
            raise UserError(f"the database connections can't be counted: {shown_end(str(error))}") from None
        # The log of a server in DATABASE_URL isn't in the folder, so the refused connections aren't known.
        self._knows_refused = address.endswith(f"host={self._folder}")
        self._begun = time.monotonic()
        self._before = self._totals()
        self._sample()
        self._sampler.start()

    def end(self, settle_s: float = 0.0, left_after_s: float = 0.0) -> Series:
        """Stop counting and return the readings. Time 0 is ``settle_s`` seconds after ``begin``.

        Args:
            settle_s: The seconds before the measured load. Readings from this time are left out.
            left_after_s: If not 0, count the remaining connections for this many seconds, or until all are closed. Also
                return the numbers of opened and refused connections, the number of waits for Django's pool, and the
                waiting time in milliseconds.
        """
        if not self._sampler.stop():
            return {}
        kept = [(round(t - settle_s, 3), counts) for t, counts in self._read if t >= settle_s]
        shown = NAMES if self._pgbouncer else NAMES[:-1]
        series: dict[str, tuple[Reading, ...]] = {
            name: tuple((t, counts[place]) for t, counts in kept) for place, name in enumerate(shown)
        }
        if left_after_s:
            left = self._left(settle_s, left_after_s)
            # After a process ends, the totals no longer include its waits, so a difference may be negative.
            totals = {name: max(0, value - self._before.get(name, 0)) for name, value in self._totals().items()}
            series |= {LEFT: left, **{name: ((left[-1][0], value),) for name, value in totals.items()}}
        self.close()
        return series

    def close(self) -> None:
        """Stop counting without returning readings."""
        self._sampler.stop()
        self._pools.close()
        for connection in filter(None, (self._connection, self._pgbouncer)):
            connection.close()

    def _left(self, settle_s: float, within_s: float) -> tuple[Reading, ...]:
        """Count the open connections once per second until all are closed. Without a load, the number doesn't rise."""
        readings: list[Reading] = []
        while len(readings) * LEFT_EVERY_S < within_s and (not readings or readings[-1][1]):
            time.sleep(LEFT_EVERY_S)
            self._sample()
            at, counts = self._read[-1]
            readings.append((round(at - settle_s, 3), counts[0]))
        return tuple(readings)

    def _sample(self) -> None:
        counts = self._connection.execute(COUNTS).fetchone()
        if self._pgbouncer:
            counts = (*counts, self._at_pgbouncer())
        self._read.append((time.monotonic() - self._begun, tuple(counts)))

    def _at_pgbouncer(self) -> int:
        """Return the number of PgBouncer's clients, not including this connection."""
        found = self._pgbouncer.execute("SHOW POOLS")
        columns = [column.name for column in found.description]
        pools = [dict(zip(columns, row, strict=True)) for row in found]
        return sum(int(one["cl_active"]) + int(one["cl_waiting"]) for one in pools if one["database"] != PGBOUNCER)

    def _totals(self) -> dict[str, int]:
        """Return the known numbers of opened and refused connections and of pool waits since the servers started."""
        [sessions] = self._connection.execute(SESSIONS).fetchone()
        totals: dict[str, int] = {OPENED: sessions}
        if self._knows_refused:
            logs = [file.read_bytes() for name in LOGS if (file := self._folder / name).is_file()]
            totals[REFUSED] = sum(said.count(words) for said in logs for words in REFUSALS)
        if self._pools.look():
            totals |= dict(zip((POOL_WAITS, POOL_WAIT_MS), self._pools.read(), strict=True))
        return totals
