"""Define the work of users who run a journey: the journey, its path, the think times and the login."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from loadtests import files, journeys
from loadtests.errors import UserError, quoted, unknown
from loadtests.plan.fields import Keys, TablePlace
from loadtests.plan.kinds.pace import Pace
from loadtests.plan.kinds.user_pace import NewUsers, UserLoop
from loadtests.plan.kinds.work import Work
from loadtests.records.bounds import Amount
from loadtests.records.decode import LONGEST_S, SHORTEST_S
from loadtests.setups import HTTP
from loadtests.workload import Load, Request, SignIn, Users
from loadtests.workload.load import MAX_PROCESSES
from loadtests.workload.request import PATH

if TYPE_CHECKING:
    from typing import Self

DEFAULT_JOURNEY = "questionnaire"
REQUESTS, THINKS = 18.5, 7.75  # Averages of the questionnaire. Three in four users get the page about their employer.
MAX_BYTES = 10_000_000  # The maximum size of a journey's file.
QUICKER = 20.0  # Think times in a quick test are shorter by this factor, so that some users finish.

Think = Annotated[float, Meta(ge=SHORTEST_S, le=LONGEST_S, extra={"duration": True})]


@dataclasses.dataclass(frozen=True, kw_only=True)
class JourneyWork(Work):
    """Run a journey with simulated users.

    Args:
        journey: The name of a journey in ``loadtests.journeys``, or a file with a journey.
        file_digest: The digest of the journey's file.
        path: The path of the application's first page.
        think_s: The shortest and the longest think time in seconds.
        injectors: The number of processes that share the users.
        sign_in: The way in which each user logs in at the start of a journey.
    """

    can_interleave = False
    has_load_curve = True
    logins_s = 0.0  # because users log in during the load

    journey: Annotated[str, Meta(description="The name of an included journey, or a journey's file.")] = DEFAULT_JOURNEY
    file_digest: str | None = dataclasses.field(default=None, metadata={"key": None})
    path: str = dataclasses.field(metadata={"key": None})
    think_s: tuple[Amount, Amount] = dataclasses.field(metadata={"key": None})
    injectors: Annotated[int, Meta(ge=1, le=MAX_PROCESSES, description="Number of processes that share the users.")] = 1

    @classmethod
    def keys(cls, values: Mapping[str, Any]) -> Keys:
        path = Annotated[str, Meta(description="The path of the application. By default, the journey's path.")]
        think = Annotated[
            list[Think] | Think, Meta(description="The think time of users: one duration, or a list of two.")
        ]
        return {**super().keys(values), "path": (path | None, None), "think": (think, (1.0, 2.0))}

    @classmethod
    def from_keys(cls, values: Mapping[str, Any], place: TablePlace) -> Self:
        journey = _journey(values["journey"], place)
        path = path_of(_file(journey)) if values["path"] is None else values["path"]
        end = "/" if journey == DEFAULT_JOURNEY else ""  # the questionnaire adds the names of its pages
        if not PATH.fullmatch(path) or not path.endswith(end):
            raise ValueError(f"path: must be the path of the application, such as /shop{end}, not {path!r}")
        think = values["think"]
        ends = [think, think] if isinstance(think, float) else think
        if len(ends) != 2:
            raise ValueError(f"think: must be one duration or two, such as ['1s', '2s'], not a list of {len(ends)}")
        if ends[0] > ends[1]:
            raise ValueError(f"think: is from {ends[0]:g} to {ends[1]:g} s. Write the shorter time first")
        return cls(
            journey=journey,
            file_digest=digest_of(journey),
            path=path,
            think_s=(ends[0], ends[1]),
            injectors=values["injectors"],
        )

    @property
    def all_requests(self) -> tuple[Request, ...]:
        return (first(self.journey, self.path),)

    @property
    def setup_features(self) -> frozenset[str]:
        return frozenset({HTTP})

    @property
    def files_unchanged(self) -> bool:  # type: ignore[override]
        return self.file_digest == digest_of(self.journey)

    @property
    def comparison_key(self) -> tuple[object, ...]:
        # The same file in another folder is the same journey.
        return (Path(self.journey).stem, self.file_digest, self.path, self.think_s, self.sign_in)

    def subject(self, pace: Pace) -> str:
        return f"the journey {Path(self.journey).stem} at {self.path}{self._who}"

    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        return self.file_digest or ""

    def describe(self, subject: str, pace: Pace, unit: str) -> str:
        least, most = self.think_s
        thinking = f"thinking for {least:g} s" if least == most else f"thinking for {least:g} to {most:g} s"
        return f"{subject},{pace.phrase(self, unit)}, {thinking}"

    def load(self, pace: Pace, fields: dict[str, Any]) -> Load:
        who = {key: fields.pop(key) for key in ("users", "arrivals") if key in fields}
        users = Users(str(_file(self.journey)), self.path, self.think_s, sign_in=self.sign_in, **who)
        shared = {"connections": max(users.users or 1, self.injectors), "processes": self.injectors}
        return Load(**{**fields, **shared, "bodies": (), "users": users})

    def requests_per_s(self, of_users: bool) -> float | None:
        if self.journey != DEFAULT_JOURNEY:
            return None
        if not of_users:
            return REQUESTS
        cycle_s = (THINKS + 1) * fmean(self.think_s)
        return REQUESTS / cycle_s if cycle_s else None

    def samples(self, pace: Pace) -> float:
        if not isinstance(pace, (UserLoop, NewUsers)):
            return math.inf
        each = self.requests_per_s(of_users=isinstance(pace, UserLoop))
        many = pace.users if isinstance(pace, UserLoop) else pace.rate
        return math.inf if each is None else each * many * pace.duration_s

    def with_processes(self, processes: int) -> Self:
        return dataclasses.replace(self, injectors=processes)

    def with_journey(self, file: Path | None, sign_in: SignIn | None) -> Self:
        found = super().with_journey(file, sign_in)
        if file is None:
            return found
        journey = str(file.resolve())
        return dataclasses.replace(found, journey=journey, file_digest=digest_of(journey), path=path_of(file))

    def quick(self) -> Self:
        least, most = self.think_s
        return dataclasses.replace(self, think_s=(least / QUICKER, most / QUICKER))


def _file(journey: str) -> Path:
    return journeys.known().get(journey, Path(journey))


def _journey(text: str, place: TablePlace) -> str:
    """Return the name of an included journey, or the path of a file with a journey.

    Raises:
        UserError: If the study's folder contains no such file.
    """
    if text in journeys.known():
        return text
    if not text.endswith(".py"):
        raise ValueError(f"journey: {unknown('journey', text, journeys.known())} Or name a file, such as mine.py")
    return str(place.inside("journey", text))


def path_of(file: Path) -> str:
    """Return the path of the application for which a journey's file was written.

    This is the class attribute ``path = "/shop/"`` in the file, or else ``/``. The file is parsed, but not executed.

    Raises:
        UserError: If the path isn't valid, or the file can't be read.
    """
    try:
        tree = ast.parse(files.read(file, MAX_BYTES))
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the error is reported when the file is run
        return "/"
    paths = [
        line.value.value
        for one in tree.body
        if isinstance(one, ast.ClassDef)
        for line in one.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
        if any(isinstance(target, ast.Name) and target.id == "path" for target in line.targets)
    ]
    if not paths:
        return "/"
    if not isinstance(paths[0], str) or not PATH.fullmatch(paths[0]):
        raise UserError(f"{file}: path = {quoted(paths[0])}: must be the path of the application, such as /shop")
    return paths[0]


def digest_of(journey: str) -> str | None:
    """Return a short digest of the content of a journey's file.

    Returns:
        The digest, or None for an included journey or a missing file.
    """
    if journey in journeys.known() or not (file := Path(journey)).is_file():
        return None
    return hashlib.sha256(file.read_bytes()).hexdigest()[:8]


def first(journey: str, path: str) -> Request:
    """Return the request that all setups must answer in the same way before the first user arrives."""
    if journey == DEFAULT_JOURNEY:
        return Request(f"GET {path}launch/", path=f"{path}launch/", status=302)
    return Request(f"GET {path}", path=path)
