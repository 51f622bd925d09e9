"""The interface of all engines."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

from loadtests.errors import UserError
from loadtests.hosts.link import Address
from loadtests.records import Result, Second
from loadtests.workload import Feature, Load

OnSecond = Callable[[Second], None]
ShouldStop = Callable[[], bool]
OnMoment = Callable[[], None]


class EngineError(UserError):
    """The engine can't run, or failed. The text has one line."""


@dataclasses.dataclass(frozen=True)
class Watch:
    """Functions that an engine calls during a load.

    Args:
        on_second: Gets each row of the timeline immediately.
        should_stop: Is called several times per second. If it returns true, the load ends, and outstanding requests
            count as unfinished.
        on_start: Is called once, after the warm-up and right before the measured load starts.
        on_end: Is called once, at the end of the billed part (see ``Result``).
    """

    on_second: OnSecond | None = None
    should_stop: ShouldStop = lambda: False
    on_start: OnMoment = lambda: None
    on_end: OnMoment = lambda: None

    def shared_with(self, another: OnSecond) -> Watch:
        """Return the same functions, with another one that also gets each second."""

        def both(second: Second) -> None:
            another(second)
            if self.on_second is not None:
                self.on_second(second)

        return dataclasses.replace(self, on_second=both)


UNWATCHED = Watch()


class Joining(Protocol):
    """Workers of a load that the user starts (``loadtests.engines.expected``)."""

    def __len__(self) -> int: ...

    def working(self, program: str, core: int | None) -> AbstractContextManager[list[Any]]:
        """Run a program on all workers until the context ends.

        Raises:
            EngineError: If a worker fails.
            UserError: If workers are missing.
        """


Others = tuple[Address, ...] | Joining
"""The machines over SSH that generate parts of the load, or the external workers that generate all of it."""


class Engine(Protocol):
    """A program that generates load."""

    name: str
    label: str
    """A short description."""
    place: int
    """The engine's position in a list."""
    features: frozenset[Feature]
    """What it can do."""

    def require(self) -> None:
        """Check that the engine's software is installed.

        Raises:
            EngineError: If it isn't.
        """

    def check(self, load: Load) -> None:
        """Check requirements of a load that aren't in the engine's ``features``.

        Raises:
            UserError: If the engine can't generate the load.
        """

    def run(self, load: Load, watch: Watch = UNWATCHED) -> Result:
        """Generate the load and measure it. All processes have ended when this method returns or raises an error.

        Raises:
            EngineError: If the engine fails.
            UserError: If the load isn't valid.
        """


@runtime_checkable
class SlicingEngine(Engine, Protocol):
    """An engine that can alternate its loads on several setups, such as ``loadtests.workload.DEFAULT_ENGINE``."""

    def generator(self, processes: int = 1, core: int | None = None) -> AbstractContextManager[LoadMaker]:
        """Start its processes on a core until the context ends.

        Raises:
            EngineError: If they don't start.
        """


@runtime_checkable
class SharedEngine(Engine, Protocol):
    """An engine that can generate a part of its load on other machines."""

    def shared_with(self, others: Others) -> Engine:
        """Return the engine with its last processes on ``others``, one on each."""


class LoadMaker(Protocol):
    """A running engine. It prepares and generates one load at a time."""

    def prepare(self, load: Load) -> PreparedLoad:
        """Prepare a load in all processes.

        Raises:
            EngineError: If a process fails.
            UserError: If the engine can't generate the load.
        """

    def spins(self) -> dict[str, float]:
        """Run the calibration (``loadtests.observe.calibration``) on the engine's other machines.

        Returns:
            The seconds by address.

        Raises:
            EngineError: If a process fails.
        """


class PreparedLoad(Protocol):
    """A prepared load. It is generated in one or several slices, and its connections stay open in between."""

    def step(self) -> None:
        """Open the connections of the next step (``Conversation.steps``). Those of the first step are open already.

        Raises:
            EngineError: If a process fails.
        """

    def warm_up(self, seconds: float) -> None:
        """Generate the load without measuring it.

        Raises:
            EngineError: If a process fails.
        """

    def measure(
        self, duration_s: float, *, settle_s: float = 0.0, grace_s: float | None = None, watch: Watch = UNWATCHED
    ) -> bool:
        """Generate the load for ``settle_s`` and ``duration_s`` seconds, and measure only the latter.

        The slices of a load with a rate are parts of one schedule of ``Load.duration_s`` seconds.

        Args:
            duration_s: The measured seconds.
            settle_s: The seconds before them.
            grace_s: The time for outstanding requests at the end. The default is ``Load.grace``.
            watch: Its functions for the start and the end aren't called, because the caller knows these moments.

        Returns:
            Whether some outstanding requests were not answered in the grace period.

        Raises:
            EngineError: If a process fails.
        """

    def result(self) -> Result:
        """Close the connections, and return the result of all slices.

        Raises:
            EngineError: If a process fails.
        """
