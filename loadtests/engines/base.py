"""What all engines have in common."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

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


class Joining(Protocol):
    """Workers of a load that others start (``loadtests.engines.expected``)."""

    def __len__(self) -> int: ...

    def working(self, program: str, core: int | None) -> AbstractContextManager[list[Any]]:
        """They carry a program until the context ends. Raises EngineError and UserError."""


Others = tuple[Address, ...] | Joining
"""Where parts of a load are made outside this process: on machines over SSH, in one process each; or by workers that
come, which then make all of it."""


class Engine(Protocol):
    """A program that makes load."""

    name: str
    label: str
    """What it is, in a few words."""
    place: int
    """Its place in a list."""
    features: frozenset[Feature]
    """What it can do."""

    def require(self) -> None:
        """Raises EngineError where what it needs is not installed."""

    def check(self, load: Load) -> None:
        """Raises UserError for a load that it cannot make, though it has all its ``features``."""

    def run(
        self,
        load: Load,
        on_second: OnSecond | None = None,
        should_stop: ShouldStop | None = None,
        on_start: OnStart | None = None,
        on_end: OnEnd | None = None,
    ) -> Result:
        """Makes the load and measures it.

        ``on_start`` is called once, after the warm-up, right before the measured load begins; ``on_end`` once, after
        all that is billed (see Result) and before anything that is not. ``on_second`` is called with each row of the
        timeline as it comes. ``should_stop`` is called several times a second; once it is true the load ends, and what
        was outstanding is unfinished.

        No process of it is left, however it ends. Raises EngineError and UserError.
        """


@runtime_checkable
class SlicingEngine(Engine, Protocol):
    """An engine whose loads can be interleaved, as those of ``loadtests.workload.DEFAULT_ENGINE`` can."""

    def generator(self, processes: int = 1, core: int | None = None) -> AbstractContextManager[LoadMaker]:
        """Starts its processes, on a core, until the context ends. Raises EngineError, also on entering."""


@runtime_checkable
class SharedEngine(Engine, Protocol):
    """An engine that can make a part of its load on other machines."""

    def shared_with(self, others: Others) -> Engine:
        """The same, with the last processes of a load elsewhere, as many as ``others`` are."""


class LoadMaker(Protocol):
    """A running engine: it prepares loads and makes them, one at a time."""

    def prepare(self, load: Load) -> PreparedLoad:
        """Gets a load ready in all processes. Raises EngineError and UserError."""

    def spins(self) -> dict[str, float]:
        """The calibration (``loadtests.observe.calibration``) of the other machines that it runs on, in seconds, by
        address. Raises EngineError."""


class PreparedLoad(Protocol):
    """A load that is ready, to be made in one or several slices: its connections stay open in between."""

    def step(self) -> None:
        """Opens its connections of the next step (``Conversation.steps``); those of the first are open. Raises
        EngineError."""

    def warm_up(self, seconds: float) -> None:
        """Makes the load without measuring. Raises EngineError."""

    def measure(
        self,
        duration_s: float,
        *,
        settle_s: float = 0.0,
        grace_s: float | None = None,
        on_second: OnSecond | None = None,
        should_stop: ShouldStop | None = None,
    ) -> bool:
        """Makes the load for ``settle_s`` and ``duration_s`` seconds, of which the latter are measured. What is then
        outstanding gets ``grace_s`` more, ``Load.grace`` without it; returns whether some of it was awaited in vain.

        The slices of a load at a rate are parts of one schedule, as long as ``Load.duration_s``. ``on_second`` and
        ``should_stop`` are as in ``Engine.run``, for the slice. Raises EngineError.
        """

    def result(self) -> Result:
        """The result of all slices; closes the connections. Raises EngineError."""
