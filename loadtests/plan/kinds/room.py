"""Whom a broadcast goes to."""

from __future__ import annotations

import dataclasses
from typing import Any

from loadtests.formatting import plural
from loadtests.plan.kinds.over_websocket import ConversingTest
from loadtests.records.bounds import Ordinal
from loadtests.records.toml import TomlTable
from loadtests.workload.conversation import MOST_CONNECTIONS

RECEIVERS = 100


@dataclasses.dataclass(frozen=True, kw_only=True)
class RoomTest(ConversingTest):
    """Messages that are published, by ``publishers``, into ``rooms`` in turn, among which ``receivers`` are dealt out.
    Each goes to every receiver of its room, and to none else."""

    receivers: Ordinal
    rooms: Ordinal = 1
    publishers: Ordinal = 1

    @property
    def audience(self) -> dict[str, Any]:
        return {"receivers": self.receivers, "rooms": self.rooms}

    @property
    def held(self) -> int:
        return self.receivers + self.publishers

    def pace(self, seed: int) -> dict[str, Any]:
        return {**super().pace(seed), "connections": self.publishers}  # type: ignore[safe-super]

    @property
    def comparison_key(self) -> tuple[object, ...]:
        return (*super().comparison_key, self.receivers, self.rooms, self.publishers)

    @property
    def short_description(self) -> str:
        rooms = f" in {plural(self.rooms, 'room')}" if self.rooms > 1 else ""
        return f"broadcasts of {self.size:,} B to {plural(self.receivers, 'receiver')}{rooms}{self.with_whom}"


def room(table: TomlTable) -> dict[str, Any]:
    """The fields of whom it goes to, from a study's table. Raises UserError."""
    receivers = table.whole("receivers", RECEIVERS, MOST_CONNECTIONS)
    rooms = table.whole("rooms", 1, MOST_CONNECTIONS)
    if rooms > receivers:
        few = plural(receivers, "receiver")
        raise table.error("rooms", f"is {rooms:,}, and there are {few}: each room needs one")
    return {
        "receivers": receivers,
        "rooms": rooms,
        "publishers": table.whole("publishers", 1, MOST_CONNECTIONS),
    }
