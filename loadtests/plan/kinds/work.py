"""Define the base class of works. A work is the content of a load, independent of the load's pace."""

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

LOGIN_S = 0.3  # the approximate time of a login, most of which is the check of Django's default password hash
CEILING_CONNECTIONS = 16  # more connections wouldn't saturate any additional setup


@dataclasses.dataclass(frozen=True, kw_only=True)
class Work(Fields):
    """The content of a load. The class attribute ``terms`` defines the limits that an objective can contain."""

    terms: ClassVar[Terms] = OF_REQUESTS
    can_interleave: ClassVar[bool] = True
    files_unchanged: ClassVar[bool] = True
    has_load_curve: ClassVar[bool] = False
    fingerprint: ClassVar[str] = ""  # a digest of the parts that the subject omits
    connection_count: ClassVar[int] = 0
    opening_s: ClassVar[float] = 0.0
    counts_each: ClassVar[float] = 1.0
    deployment: ClassVar[str] = ""  # How servers are replaced under load: a value of WAYS in kinds/deployment.py.
    knobs: ClassVar[tuple[tuple[str, str], ...]] = ()  # The knobs with which setups start.
    slice_grace_s: ClassVar[float | None] = None
    """The seconds for which the first slice waits for outstanding requests, or None for the timeout of a request."""

    sign_in: SignIn | None = dataclasses.field(default=None, metadata={"key": None})
    """The login of the load's users. It is None if nobody logs in."""

    @abstractmethod
    def subject(self, pace: Pace) -> str:
        """Describe the sent requests or messages."""

    @property
    @abstractmethod
    def comparison_key(self) -> tuple[object, ...]:
        """The values that must be equal to compare two works."""

    @property
    @abstractmethod
    def setup_features(self) -> frozenset[str]:
        """The features that a setup must support: HTTP, WEBSOCKET, or a word of ``loadtests.setups.CANNOT``."""

    @abstractmethod
    def load(self, pace: Pace, fields: dict[str, Any]) -> Load:
        """Create the load for a server. ``fields`` contains the load's fields that don't depend on the work."""

    @property
    def waits_on_purpose(self) -> bool:
        """Whether views wait for something other than the CPU, so that a setup at its limit can have idle cores."""
        return False

    @property
    def all_requests(self) -> tuple[Request, ...]:
        """The requests that every setup must answer in the same way before the load."""
        return ()

    def needs_memory_at_rest(self, services: Sequence[str]) -> bool:
        """Return whether some figures require that the memory of the processes is measured before the load."""
        return False

    def describe(self, subject: str, pace: Pace, unit: str) -> str:
        """Describe the work and its pace."""
        return f"{subject}{pace.phrase(self, unit)}"

    def loop_phrase(self, clients: int | None) -> str:
        """Describe a closed loop as the end of a sentence."""
        return f" as fast as {plural(clients or self.connection_count, 'connection')} can"

    def loop_condition(self, clients: int | None) -> str:
        """Describe the test conditions of a closed loop."""
        return f"with {plural(clients or self.connection_count, 'connection')}"

    def samples(self, pace: Pace) -> float:
        """Return the number of measured values in a trial with immediate answers, or infinity if it is unknown."""
        return float("inf") if pace.rate_found is None else int(pace.rate_found * pace.seconds)

    def requests_per_s(self, of_users: bool) -> float | None:
        """Return the request rate with immediate answers, or None if the rate isn't known.

        Args:
            of_users: True for the rate per user, False for the rate if one new user arrives per second.
        """
        return None

    def ceiling(self, duration_s: float) -> tuple[Work, Pace]:
        """Return the work and the closed loop that find the ceiling of this work."""
        return self, ClosedLoop(duration_s=duration_s)

    def with_requests(self, requests: tuple[Request, ...]) -> Self:
        """Return the work with other requests, or the same work if it doesn't send HTTP requests."""
        return self

    def with_bodies(self) -> Self:
        """Return the work with request bodies read from their files, because a run folder doesn't contain the bodies.

        Raises:
            UserError: If a file has changed.
        """
        return self

    def with_processes(self, processes: int) -> Self:
        """Return the work with this number of load processes, if the work defines their number."""
        return self

    def with_journey(self, file: Path | None, sign_in: SignIn | None) -> Self:
        """Return the work with a login for its users and, if its users run a journey, with the journey in a file.

        Without a file, keep the journey.

        Raises:
            UserError: If the file isn't valid.
        """
        return dataclasses.replace(self, sign_in=sign_in)

    def record(self) -> dict[str, Any]:
        """Return the fields, with the login only if users log in."""
        found = super().record()
        login = found.pop("sign_in")
        return {**found, "sign_in": dataclasses.asdict(login)} if login else found

    @property
    def logins_s(self) -> float:
        """The approximate time in which all users of the load log in, one after the other."""
        return self.sign_in.users * LOGIN_S if self.sign_in and self.sign_in.login else 0.0

    @property
    def _who(self) -> str:
        """A description of the users who have logged in."""
        return f", {self.sign_in}" if self.sign_in else ""

    def quick(self) -> Self:
        """Return a short form of the work, for a first check that everything works."""
        return self
