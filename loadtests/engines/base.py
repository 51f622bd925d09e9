"""What all engines have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from loadtests.errors import UserError
from loadtests.records import Result, Second
from loadtests.workload import Feature, Load

OnSecond = Callable[[Second], None]
ShouldStop = Callable[[], bool]
OnStart = Callable[[], None]


class EngineError(UserError):
    """An engine that cannot run, or broke off. Its text is one line."""


class Engine(Protocol):
    """A program that makes load."""

    name: str
    place: int
    """Its place in a list."""
    features: frozenset[Feature]
    """What it can do."""

    def require(self) -> None:
        """Raises EngineError where what it needs is not installed."""

    def check(self, load: Load) -> None:
        """Raises UserError where it cannot make a load, though it can do all that the load takes (``features``)."""

    def run(
        self,
        load: Load,
        on_second: OnSecond | None = None,
        should_stop: ShouldStop | None = None,
        on_start: OnStart | None = None,
    ) -> Result:
        """Makes the load and measures it.

        ``on_start`` is called after the warm-up, right before the measured load begins.
        ``on_second`` is called with each row of the timeline (see Result) as it is made. ``should_stop`` is asked
        several times a second; once it is true the load ends, and what was outstanding is unfinished.

        No process of it is left, however it ends. Raises EngineError and UserError.
        """
