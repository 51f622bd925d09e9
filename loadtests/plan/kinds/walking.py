"""What all tests have in common whose users walk a journey: which one, where, how they think, and who they are."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadtests import journeys
from loadtests.errors import UserError, quoted, unknown
from loadtests.plan.kinds.base import Test, common
from loadtests.records.bounds import Amount, Ordinal
from loadtests.records.toml import TomlTable
from loadtests.setups import HTTP
from loadtests.workload import Request, SignIn, Users
from loadtests.workload.load import MAX_PROCESSES
from loadtests.workload.request import PATH

if TYPE_CHECKING:
    from typing_extensions import Self

DEFAULT_JOURNEY = "questionnaire"
REQUESTS, THINKS = 18.5, 7.75  # of that journey, on average: three in four are asked for their employer
THINK_S = (1.0, 2.0)
# One journey and the think after it: the first user begins anew when the last one comes, so journeys end at any moment
# as often as at any other. After a shorter ramp they end in bunches, and what a time holds of these is an accident.
RAMP_S = 13.0
QUICKER = 20.0  # how many times as fast users of a quick test think, so that some come to the end


@dataclasses.dataclass(frozen=True, kw_only=True)
class WalkingTest(Test):
    """Users walk the ``journey``: one of ``loadtests.journeys``, or a file that has one, of which ``file_digest`` is
    kept. Each thinks from ``think_s[0]`` to ``think_s[1]`` seconds. ``warmup_s`` is the ramp, in which they come and
    nothing is counted. So many ``injectors`` share the users. Where there is a ``sign_in``, whoever begins a journey
    signs in first."""

    summarised_fields = ("name", "requests", "journey", "path", "file_digest")

    engine: str = "locust"
    warmup_s: Amount = RAMP_S
    journey: str = DEFAULT_JOURNEY
    file_digest: str | None = None
    path: str
    think_s: tuple[Amount, Amount] = THINK_S
    injectors: Ordinal = 1
    sign_in: SignIn | None = None

    @property
    def setup_features(self) -> frozenset[str]:
        return frozenset({HTTP})

    def walked_by(self, users: int | None, arrivals: float | None) -> Users:
        """Its users, where they are so many, or come at that rate."""
        return Users(str(_file(self.journey)), self.path, self.think_s, users, arrivals, self.sign_in)

    @property
    def comparison_key(self) -> tuple[object, ...]:
        # Which file it is, and not where it is.
        return (Path(self.journey).stem, self.file_digest, self.path, self.think_s, self.sign_in)

    @property
    def short_description(self) -> str:
        who = f", {self.sign_in}" if self.sign_in else ""
        return f"the journey {Path(self.journey).stem} at {self.path}{who}"

    @property
    def exact_description(self) -> str:
        return f"{self.short_description} ({self.file_digest})" if self.file_digest else self.short_description

    @property
    def files_unchanged(self) -> bool:
        return self.file_digest == digest(self.journey)

    @property
    def thinking(self) -> str:
        """For how long users think, in words."""
        least, most = self.think_s
        return f"thinking for {least:g} s" if least == most else f"thinking for {least:g} to {most:g} s"

    def with_processes(self, injectors: int) -> Self:
        return dataclasses.replace(self, injectors=injectors)

    def with_journey(self, file: Path | None, sign_in: SignIn | None) -> Self:
        if file is None:
            return dataclasses.replace(self, sign_in=sign_in)
        journey, path = str(file.resolve()), path_of(file)
        return dataclasses.replace(
            self,
            journey=journey,
            file_digest=digest(journey),
            path=path,
            sign_in=sign_in,
            requests=(first(journey, path),),
        )

    def quick(self) -> Self:
        least, most = self.think_s
        return dataclasses.replace(super().quick(), think_s=(least / QUICKER, most / QUICKER))

    def record(self) -> dict[str, Any]:
        return {**super().record(), "sign_in": dataclasses.asdict(self.sign_in) if self.sign_in else None}


def walked(name: str, table: TomlTable, folder: Path) -> dict[str, Any]:
    """The fields that all of them have, from a study's table; paths in it start from ``folder``. Raises UserError."""
    journey = _journey(table, folder)
    path = table.take("path", str, path_of(_file(journey)))
    if not _begins(path):
        raise table.error("path", f"is {path!r}; where the application begins is needed, from '/' to '/'")
    return {
        **common(name, table, WalkingTest.engine, RAMP_S),
        "journey": journey,
        "file_digest": digest(journey),
        "path": path,
        "think_s": table.span("think", THINK_S),
        "injectors": table.whole("injectors", 1, MAX_PROCESSES),
        "requests": (first(journey, path),),
    }


def _file(journey: str) -> Path:
    return journeys.known().get(journey, Path(journey))


def _begins(path: str) -> bool:
    return PATH.fullmatch(path) is not None and path.endswith("/")


def _journey(table: TomlTable, folder: Path) -> str:
    """A journey that comes with the project, by name, or the path of a file that has one."""
    text: str = table.take("journey", str, DEFAULT_JOURNEY)
    if text in journeys.known():
        return text
    if not text.endswith(".py"):
        raise table.error("journey", f"{unknown('journey', text, journeys.known())} Or name a file, mine.py")
    file = (folder / text).resolve()
    if not file.is_file():
        raise table.error("journey", f"there is no file {file}")
    return str(file)


def path_of(file: Path) -> str:
    """Where the application begins that a file's journey is for: what its class says, ``path = "/shop/"``; else ``/``.
    The file is read and not run. Raises UserError where that is no such path, and for a file that cannot be read."""
    try:
        tree = ast.parse(file.read_bytes())
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # who walks it says what is wrong
        return "/"
    said = [
        line.value.value
        for one in tree.body
        if isinstance(one, ast.ClassDef)
        for line in one.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
        if any(isinstance(target, ast.Name) and target.id == "path" for target in line.targets)
    ]
    if not said:
        return "/"
    if not isinstance(said[0], str) or not _begins(said[0]):
        raise UserError(f"{file}: path = {quoted(said[0])}: where the application begins is needed, from '/' to '/'")
    return said[0]


def digest(journey: str) -> str | None:
    """A few letters that differ where the file of a journey does; None of one that comes with the project, and where
    there is no such file."""
    if journey in journeys.known() or not (file := Path(journey)).is_file():
        return None
    return hashlib.sha256(file.read_bytes()).hexdigest()[:8]


def first(journey: str, path: str) -> Request:
    """What every setup must answer alike before any user comes."""
    if journey == DEFAULT_JOURNEY:
        return Request(f"GET {path}launch/", path=f"{path}launch/", status=302)
    return Request(f"GET {path}", path=path)
