"""Works: what a test sends, whatever the pace. This is what all of them have in common."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadtests.formatting import plural
from loadtests.plan.fields import Fields
from loadtests.plan.kinds.pace import ClosedLoop, Pace
from loadtests.plan.objective import OF_REQUESTS, Terms
from loadtests.workload import Load, Request, SignIn

if TYPE_CHECKING:
    from typing import Self

CEILING_CONNECTIONS = 16  # a setup that is kept busy by fewer is so by these


@dataclasses.dataclass(frozen=True, kw_only=True)
class Work(Fields):
    """What is sent. ``terms`` is what an objective for it is about."""

    terms: ClassVar[Terms] = OF_REQUESTS
    can_interleave: ClassVar[bool] = True
    files_unchanged: ClassVar[bool] = True
    has_load_curve: ClassVar[bool] = False
    fingerprint: ClassVar[str] = ""  # a digest of what the subject leaves out
    connection_count: ClassVar[int] = 0
    opening_s: ClassVar[float] = 0.0
    counts_each: ClassVar[float] = 1.0
    deployment: ClassVar[str] = ""  # a word of WAYS in kinds/deployment.py: what is done to the server under the load
    knobs: ClassVar[tuple[tuple[str, str], ...]] = ()  # what setups are started with for it
    slice_grace_s: ClassVar[float | None] = None
    """How long the first slice waits for what is outstanding (``plan.slices``); None: as long as a request may take."""

    @abstractmethod
    def subject(self, pace: Pace) -> str:
        """What is sent, in words."""

    @property
    @abstractmethod
    def comparison_key(self) -> tuple[object, ...]:
        """What makes two works alike."""

    @property
    @abstractmethod
    def setup_features(self) -> frozenset[str]:
        """What a setup must be able to do: HTTP, WEBSOCKET, or a word of ``loadtests.setups.CANNOT``."""

    @abstractmethod
    def load(self, pace: Pace, fields: dict[str, Any]) -> Load:
        """The load on a server; ``fields`` are those that do not depend on the work."""

    @property
    def waits_on_purpose(self) -> bool:
        """Whether its views wait for something other than the CPU, so a setup at its limit can have idle cores."""
        return False

    @property
    def all_requests(self) -> tuple[Request, ...]:
        """The requests that every setup must answer alike before any load."""
        return ()

    def needs_memory_at_rest(self, services: Sequence[str]) -> bool:
        """Whether figures need the memory that processes have before there is any load."""
        return False

    def describe(self, subject: str, pace: Pace, unit: str) -> str:
        """What is sent at which pace, in words."""
        return f"{subject}{pace.phrase(self, unit)}"

    def loop_phrase(self, clients: int | None) -> str:
        """A closed loop, as the end of a sentence."""
        return f" as fast as {plural(clients or self.connection_count, 'connection')} can"

    def loop_condition(self, clients: int | None) -> str:
        """Under which condition the figures of a closed loop hold."""
        return f"with {plural(clients or self.connection_count, 'connection')}"

    def samples(self, pace: Pace) -> float:
        """How many times a trial measures, if answers take no time; infinite where that is not known."""
        return float("inf") if pace.rate_found is None else int(pace.rate_found * pace.seconds)

    def requests_per_s(self, of_users: bool) -> float | None:
        """How many requests a second each user makes, or each new one a second, if answers take no time; None where
        that is not known."""
        return None

    def ceiling(self, duration_s: float) -> tuple[Work, Pace]:
        """The work and the closed loop that find the ceiling of this one."""
        return self, ClosedLoop(duration_s=duration_s)

    def with_requests(self, requests: tuple[Request, ...]) -> Self:
        """The work with other requests; as it is where it sends none of its own."""
        return self

    def with_bodies(self) -> Self:
        """The work of a run folder with the bodies that files have. Raises UserError where one is another."""
        return self

    def with_processes(self, processes: int) -> Self:
        """The work with its load made by that many processes, where that is its choice."""
        return self

    def with_journey(self, file: Path | None, sign_in: SignIn | None) -> Self:
        """The work with its users on the journey in a file (its own without one). Raises UserError."""
        return self

    def quick(self) -> Self:
        """The work made short: a first look at whether all works."""
        return self
