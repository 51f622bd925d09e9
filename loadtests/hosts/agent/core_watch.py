"""The other load on a generator's core while it makes a load."""

from __future__ import annotations

import dataclasses
from typing import Any

from loadtests.hosts.agent import connection
from loadtests.observe import conditions, other_load
from loadtests.observe.conditions import Conditions
from loadtests.observe.other_load import OthersMoment


class CoreWatch:
    """Follows the messages to and from a generator, and adds the core's conditions during each load to its result, as
    ``conditions`` (``conditions.Conditions``).

    It begins with the message that says when a load starts, before there is load, and ends when that is over."""

    def __init__(self, core: int) -> None:
        self._core = core
        self._load: str | None = None  # the name of the present load; that of users has none
        self._begun: OthersMoment | None = None
        self._observed: dict[str | None, list[Conditions]] = {}

    def on_message(self, message: dict[str, Any]) -> None:
        """To the generator."""
        self._load = message.get("load", self._load)  # a stop message names none
        # A slice of no duration is a warm-up; users come and warm up in one piece.
        if message.get("slice", {}).get("durationMs") or "start" in message:
            self._begun = self._moment()

    def on_event(self, event: dict[str, Any]) -> None:
        """From the generator."""
        if event["event"] == "over" and self._begun is not None:
            between = other_load.between(self._begun, self._moment())
            self._observed.setdefault(self._load, []).append(between)
            self._begun = None
        elif event["event"] == "result" and (observed := self._observed.pop(self._load, None)):
            event["conditions"] = dataclasses.asdict(conditions.together(observed))

    def _moment(self) -> OthersMoment:
        return other_load.moment([self._core], connection.ours())
