"""Define the interface of engines, which generate load."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from loadtests.errors import UserError
from loadtests.hosts.link import Address
from loadtests.records import Result, Second
from loadtests.workload import Feature, Load

if TYPE_CHECKING:
    from loadtests.engines.node import NodeGenerator

OnSecond = Callable[[Second], None]
ShouldStop = Callable[[], bool]
OnMoment = Callable[[], None]


class EngineError(UserError):
    """An engine can't run, or has failed. The message is a single line."""


@dataclasses.dataclass(frozen=True)
class Watch:
    """Functions that an engine calls during a load.

    Args:
        on_second: Called with each row of the timeline, as soon as the row is complete.
        should_stop: Called several times per second. If it returns true, the load ends, and outstanding requests count
            as unfinished.
        on_step: Called after each step in which connections are opened (``Conversation.steps``), if there are several.
        on_start: Called once, after the warm-up and right before the measured load starts.
        on_end: Called once, at the end of the period in which answers are billed (see ``Result``).
    """

    on_second: OnSecond | None = None
    should_stop: ShouldStop = lambda: False
    on_step: OnMoment = lambda: None
    on_start: OnMoment = lambda: None
    on_end: OnMoment = lambda: None

    def shared_with(self, another: OnSecond) -> Watch:
        """Return a copy of this watch that also calls ``another`` with each row of the timeline."""

        def both(second: Second) -> None:
            another(second)
            if self.on_second is not None:
                self.on_second(second)

        return dataclasses.replace(self, on_second=both)


UNWATCHED = Watch()


class Joining(Protocol):
    """The workers that the user starts to generate a load (``loadtests.engines.expected``)."""

    def __len__(self) -> int: ...

    def working(self, program: str, core: int | None) -> AbstractContextManager[list[Any]]:
        """Run a program on all workers until the context ends.

        Raises:
            EngineError: If a worker fails.
            UserError: If too few workers connected, or a worker was lost.
        """


Others = tuple[Address, ...] | Joining
"""SSH addresses of machines that each generate a part of the load, or workers that generate the whole load."""


class Engine(Protocol):
    """A program that generates load."""

    name: str
    features: frozenset[Feature]
    """The features that the engine supports."""

    def require(self) -> None:
        """Check that the engine's software is installed.

        Raises:
            EngineError: If the software isn't installed.
        """

    def check(self, load: Load) -> None:
        """Check whether the engine can generate a load, but don't check the requirements in ``features``.

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
    """An engine that can alternate between loads on several setups, such as ``loadtests.workload.DEFAULT_ENGINE``."""

    def generator(self, processes: int = 1, core: int | None = None) -> AbstractContextManager[NodeGenerator]:
        """Run the engine's processes on a core until the context ends.

        Raises:
            EngineError: If the processes don't start.
        """


@runtime_checkable
class SharedEngine(Engine, Protocol):
    """An engine that can generate a part of its load on other machines."""

    def shared_with(self, others: Others) -> Engine:
        """Return a copy of this engine that runs one of its processes on each machine or worker in ``others``."""
