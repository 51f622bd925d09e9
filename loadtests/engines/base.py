"""What all engines have in common."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from loadtests.errors import UserError
from loadtests.hosts.link import Address
from loadtests.records import Result, Second
from loadtests.workload import Feature, Load

OnSecond = Callable[[Second], None]
ShouldStop = Callable[[], bool]
OnStart = Callable[[], None]
OnEnd = Callable[[], None]


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
        on_end: OnEnd | None = None,
    ) -> Result:
        """Makes the load and measures it.

        ``on_start`` is called after the warm-up, right before the measured load begins. ``on_end`` is called when all
        is over that is billed (see Result), before anything is done that is not. Each of them is called once.
        ``on_second`` is called with each row of the timeline (see Result) as it is made. ``should_stop`` is asked
        several times a second; once it is true the load ends, and what was outstanding is unfinished.

        No process of it is left, however it ends. Raises EngineError and UserError.
        """


@runtime_checkable
class SlicingEngine(Engine, Protocol):
    """An engine whose loads can be made by turns, as those of ``loadtests.workload.DEFAULT_ENGINE`` can."""

    def generator(self, processes: int = 1, core: int | None = None) -> AbstractContextManager[LoadMaker]:
        """Starts what makes its loads: so many processes, on a core. None of them is left at the end, however that
        comes. Raises EngineError, also on entering."""


@runtime_checkable
class SharedEngine(Engine, Protocol):
    """An engine that can make a part of its load on other machines."""

    def shared_with(self, others: tuple[Address, ...]) -> Engine:
        """The same; of the processes that make a load the last run on these, one on each."""


class LoadMaker(Protocol):
    """An engine that runs: it prepares loads and makes them, one at a time."""

    def prepare(self, load: Load) -> PreparedLoad:
        """A load that can be made, by as many processes as there are. Raises EngineError and UserError."""

    def spins(self) -> dict[str, float]:
        """How many seconds a fixed piece of work takes now on each of the other machines that it runs on, by their
        addresses (see ``loadtests.observe.calibration``). Raises EngineError."""


class PreparedLoad(Protocol):
    """A load that can be made, in several slices if need be: its connections stay open in between."""

    def step(self) -> None:
        """Opens the next part of the connections that it holds, where that is done in steps (``Conversation.steps``):
        the first is open when it is prepared. Raises EngineError."""

    def warm_up(self, seconds: float) -> None:
        """Makes the load for so long, and nothing of it is kept. Raises EngineError."""

    def measure(
        self,
        duration_s: float,
        *,
        settle_s: float = 0.0,
        on_second: OnSecond | None = None,
        should_stop: ShouldStop | None = None,
    ) -> None:
        """Makes the load for ``settle_s`` and ``duration_s`` seconds, of which the latter are measured.

        The slices of a load at a rate are parts of one schedule, as long as ``Load.duration_s``. ``on_second`` and
        ``should_stop`` are as in ``Engine.run``; what should stop is the slice. Raises EngineError.
        """

    def result(self) -> Result:
        """What was measured in all slices; its connections are closed. Raises EngineError."""
