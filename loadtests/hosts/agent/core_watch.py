"""Observe the work of other programs on a generator's core during a load."""

from __future__ import annotations

import dataclasses
from typing import Any

from loadtests.hosts.agent import connection
from loadtests.observe import conditions, other_load
from loadtests.observe.conditions import Conditions
from loadtests.observe.other_load import OthersMoment


class CoreWatch:
    """Watch a generator's messages. Record the conditions on the generator's core in each load's result.

    The conditions are in the result's key ``conditions`` (``conditions.Conditions``). The observation starts with the
    message that announces a load, before the first request, and ends with the load.
    """

    def __init__(self, core: int) -> None:
        self._core = core
        self._load: str | None = None  # the name of the current load; None for a load of users
        self._begun: OthersMoment | None = None
        self._observed: dict[str | None, list[Conditions]] = {}

    def on_message(self, message: dict[str, Any]) -> None:
        """Start the observation if a message to the generator starts a measurement."""
        self._load = message.get("load", self._load)  # A stop message contains no name.
        # A slice without a duration is a warm-up. A load of users has only one slice, which includes the ramp.
        if message.get("slice", {}).get("durationMs") or "start" in message:
            self._begun = self._moment()

    def on_event(self, event: dict[str, Any]) -> None:
        """End the observation when the load is over. Add the conditions to the load's result when it arrives."""
        if event["event"] == "over" and self._begun is not None:
            between = other_load.between(self._begun, self._moment())
            self._observed.setdefault(self._load, []).append(between)
            self._begun = None
        elif event["event"] == "result" and (observed := self._observed.pop(self._load, None)):
            event["conditions"] = dataclasses.asdict(conditions.together(observed))

    def _moment(self) -> OthersMoment:
        return other_load.moment([self._core], connection.ours())
