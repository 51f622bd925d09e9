"""Where the embedded datastore keeps its entities: in memory, or in a file of SQLite, which outlives its process."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from google.cloud.datastore_v1 import types
from google.protobuf.timestamp_pb2 import Timestamp

from loadtests.services.datastore.refusals import Refusal, Status

ENTITY = types.Entity.pb()
MB = 1024 * 1024
TABLE = """
    CREATE TABLE IF NOT EXISTS entities (
        name BLOB PRIMARY KEY, entity BLOB NOT NULL, version INTEGER NOT NULL, created BLOB NOT NULL,
        updated BLOB NOT NULL
    )
"""


@dataclasses.dataclass
class Stored:
    """An entity as it is stored, and when it was made and last written."""

    entity: Any
    version: int
    created: Timestamp
    updated: Timestamp


class Storage(Protocol):
    """Entities by the bytes of their keys."""

    def get(self, name: bytes) -> Stored | None:
        """The entity of that name; None where there is none."""

    def all(self) -> list[Stored]:
        """All of them."""

    def put(self, name: bytes, stored: Stored) -> None:
        """Writes one, over what was there."""

    def drop(self, name: bytes) -> None:
        """Deletes one, if it is there."""

    def whole(self) -> AbstractContextManager[None]:
        """What is written in it is written whole or, where it ends with an exception, not at all. Raises Refusal where
        it cannot be."""

    def clear(self) -> None:
        """Deletes all."""


class InMemory:
    """Gone with the process. All that is written comes after what could be refused, so nothing needs to be undone."""

    def __init__(self) -> None:
        self._stored: dict[bytes, Stored] = {}

    def get(self, name: bytes) -> Stored | None:
        return self._stored.get(name)

    def all(self) -> list[Stored]:
        return list(self._stored.values())

    def put(self, name: bytes, stored: Stored) -> None:
        self._stored[name] = stored

    def drop(self, name: bytes) -> None:
        self._stored.pop(name, None)

    def whole(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def clear(self) -> None:
        self._stored.clear()


class InSqlite:
    """In a file, of at most ``most_mb``; 0: as much as the disk has room for.

    What was answered survives the process, however that ends; not the machine: nothing waits for the disk. Raises
    OSError where the file cannot be opened or is none of SQLite's.
    """

    def __init__(self, file: Path, most_mb: int = 0) -> None:
        try:
            self._sqlite = sqlite3.connect(file, isolation_level=None)
            self._sqlite.execute("PRAGMA journal_mode = WAL")
            self._sqlite.execute("PRAGMA synchronous = OFF")
            self._sqlite.execute(TABLE)
            if most_mb:
                [page_bytes] = self._sqlite.execute("PRAGMA page_size").fetchone()
                self._sqlite.execute(f"PRAGMA max_page_count = {most_mb * MB // page_bytes}")
        except sqlite3.Error as error:
            raise OSError(f"{file}: {error}") from None

    def get(self, name: bytes) -> Stored | None:
        rows = self._rows("SELECT entity, version, created, updated FROM entities WHERE name = ?", name)
        return _stored(*rows[0]) if rows else None

    def all(self) -> list[Stored]:
        return [_stored(*row) for row in self._rows("SELECT entity, version, created, updated FROM entities")]

    def put(self, name: bytes, stored: Stored) -> None:
        times = (stored.created.SerializeToString(), stored.updated.SerializeToString())
        values = (name, stored.entity.SerializeToString(), stored.version, *times)
        self._rows("INSERT OR REPLACE INTO entities VALUES (?, ?, ?, ?, ?)", *values)

    def drop(self, name: bytes) -> None:
        self._rows("DELETE FROM entities WHERE name = ?", name)

    @contextlib.contextmanager
    def whole(self) -> Iterator[None]:
        self._rows("BEGIN IMMEDIATE")
        try:
            yield
            self._rows("COMMIT")
        except BaseException:
            if self._sqlite.in_transaction:  # where the disk is full, SQLite may have ended it by itself
                self._sqlite.execute("ROLLBACK")
            raise

    def clear(self) -> None:
        self._rows("DELETE FROM entities")

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._sqlite.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            full = "full" in str(error)
            raise Refusal(Status.RESOURCE_EXHAUSTED if full else Status.UNAVAILABLE, str(error)) from error


def _stored(entity: bytes, version: int, created: bytes, updated: bytes) -> Stored:
    return Stored(ENTITY.FromString(entity), version, Timestamp.FromString(created), Timestamp.FromString(updated))
