"""What others take of the core of a generator, while that makes a load."""

from __future__ import annotations

import dataclasses
from typing import Any

from loadtests.hosts.agent import connection
from loadtests.observe import conditions, other_load
from loadtests.observe.conditions import Conditions
from loadtests.observe.other_load import OthersMoment


class CoreWatch:
    """Is told of the lines that go to a generator and come from it, and adds to the result of each load what happened
    on the core meanwhile (``conditions.Conditions``), as ``conditions``.

    It begins before there is load, with the line that says when that is to start, and ends when that is over."""

    def __init__(self, core: int) -> None:
        self._core = core
        self._load: str | None = None  # the name of the one that is made; users' has none
        self._begun: OthersMoment | None = None
        self._seen: dict[str | None, list[Conditions]] = {}

    def told(self, message: dict[str, Any]) -> None:
        """This goes to the generator."""
        self._load = message.get("load", self._load)  # a word to stop names none
        # A slice of which nothing is kept is a warm-up; users come and warm up in one piece.
        if message.get("slice", {}).get("durationMs") or "start" in message:
            self._begun = self._moment()

    def tells(self, event: dict[str, Any]) -> None:
        """This came from it."""
        if event["event"] == "over" and self._begun is not None:
            seen = other_load.between(self._begun, self._moment())
            self._seen.setdefault(self._load, []).append(seen)
            self._begun = None
        elif event["event"] == "result" and (seen_of := self._seen.pop(self._load, None)):
            event["conditions"] = dataclasses.asdict(conditions.together(seen_of))

    def _moment(self) -> OthersMoment:
        return other_load.moment([self._core], connection.ours())
