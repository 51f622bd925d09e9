"""The connections that a PostgreSQL next to the setup holds while it is measured, from pg_stat_activity.

They are read ten times a second, over a connection of ours that is not counted, and kept with the gauges of the setup
(``loadtests.observe.gauges``). A setup without the service ``postgresql`` is not watched.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from loadtests.errors import UserError, shown_end
from loadtests.observe.gauges import EVERY_S, Series
from loadtests.observe.sampler import Sampler
from loadtests.records.trial import IDLE, IN_TRANSACTION, LEFT, OPEN, OPENED, REFUSED, Reading

POSTGRESQL_URL = "postgresql.url"  # in RUN_DIR: supervisor/postgresql.sh writes it
LOG = "postgresql.log"  # likewise: what the server itself says, where it is the service's own
REFUSALS = (b"too many clients already", b"remaining connection slots are reserved")
NAMES = (OPEN, IDLE, IN_TRANSACTION)
COUNTS = """
SELECT count(*), count(*) FILTER (WHERE state = 'idle'), count(*) FILTER (WHERE state LIKE 'idle in transaction%')
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
SESSIONS = "SELECT sessions FROM pg_stat_database WHERE datname = current_database()"  # since PostgreSQL 14


class ConnectionWatch:
    """Counts the connections to the PostgreSQL whose address is in a folder, from ``begin`` to ``end``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sampler = Sampler(self._sample, EVERY_S)
        self._connection: Any = None
        self._knows_refused = False
        self._begun = 0.0
        self._before: tuple[int, int] = (0, 0)
        self._read: list[tuple[float, tuple[int, ...]]] = []

    def begin(self) -> None:
        """Begins to count, where there is a PostgreSQL. Raises UserError where that lets nobody in."""
        file = self._folder / POSTGRESQL_URL
        if not file.is_file():
            return
        address = file.read_text(encoding="utf-8").strip()
        import psycopg  # only where there is one

        try:
            self._connection = psycopg.connect(address, autocommit=True)
        except psycopg.OperationalError as error:  # a server of DATABASE_URL, whose connections others hold
            raise UserError(f"the database connections cannot be counted: {shown_end(str(error))}") from None
        # The log of a server that DATABASE_URL names is not here, so whom it refuses is not known.
        self._knows_refused = address.endswith(f"host={self._folder}")
        self._begun = time.monotonic()
        self._before = self._totals()
        self._sample()
        self._sampler.start()

    def end(self, settle_s: float = 0.0, left_after_s: float = 0.0) -> Series:
        """All readings, counted from ``settle_s`` after the begin. With ``left_after_s`` it waits for that long, and
        adds how many connections are left then, and how many were opened and refused in all."""
        if not self._sampler.stop():
            return {}
        kept = [(round(t - settle_s, 3), counts) for t, counts in self._read if t >= settle_s]
        series: dict[str, tuple[Reading, ...]] = {
            name: tuple((t, counts[place]) for t, counts in kept) for place, name in enumerate(NAMES)
        }
        if left_after_s:
            time.sleep(left_after_s)
            self._sample()
            ended, counts = self._read[-1]
            opened, refused = (after - before for after, before in zip(self._totals(), self._before, strict=True))
            totals = {LEFT: counts[0], OPENED: opened, **({REFUSED: refused} if self._knows_refused else {})}
            series |= {name: ((round(ended - settle_s, 3), value),) for name, value in totals.items()}
        self.close()
        return series

    def close(self) -> None:
        """Ends it, without readings."""
        self._sampler.stop()
        if self._connection is not None:
            self._connection.close()

    def _sample(self) -> None:
        counts = self._connection.execute(COUNTS).fetchone()
        self._read.append((time.monotonic() - self._begun, tuple(counts)))

    def _totals(self) -> tuple[int, int]:
        """Sessions and refused connections since the server started."""
        [sessions] = self._connection.execute(SESSIONS).fetchone()
        log = self._folder / LOG
        said = log.read_bytes() if log.is_file() else b""
        return sessions, sum(said.count(words) for words in REFUSALS)
