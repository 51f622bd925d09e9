"""run.json as a type: what was run, on what, in which order."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from loadtests.plan.schedule import Slot
from loadtests.plan.study import Study
from loadtests.records import Advice
from loadtests.records.bounds import Amount, FileName, Moment, Name, Number, Positive, Share, Variable


@dataclasses.dataclass(frozen=True)
class Expectation:
    """What every setup must answer to one request; the body's SHA-256 is None where it is not compared."""

    status: int
    content_type: str
    sha256: str | None


# By the test's name, for each of its requests.
Contract = dict[Name, tuple[Expectation, ...]]
# By the test's name and the label: what a setup held per second, of what the test sends, before the first block.
Ceilings = dict[Name, dict[Name, Positive]]


@dataclasses.dataclass(frozen=True)
class SetupRecord:
    """What is kept of the setup under a label: how it is served, in words, and the text of its supervisor file."""

    label: str
    interface: str
    config: str


@dataclasses.dataclass(frozen=True)
class LeftOut:
    """A setup, by its label, that is not measured, in one test or (``test`` is None) in all, and why."""

    label: Name
    test: Name | None
    why: str


@dataclasses.dataclass(frozen=True)
class Goal:
    """When to stop adding blocks: the widest interval is plus or minus ``until`` (a share), or the time is over."""

    until: Share
    max_time_s: Positive


@dataclasses.dataclass(frozen=True)
class OwnProject:
    """A project of the user's that was served: what the command line said of it (paths made absolute), what a reader
    should know of it, and what it said of itself; ``middleware`` is how many it has."""

    options: dict[str, str | dict[str, str | list[str]]]
    remarks: tuple[str, ...]
    python: str
    django: str
    debug: bool
    wsgi: str | None
    asgi: str | None
    middleware: int
    packages: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Git:
    """The project's revision, and whether the working tree differed from it; None where git does not know."""

    revision: Annotated[str, Meta(pattern=r"^[0-9a-f]{7,64}\Z")] | None
    dirty: bool | None


@dataclasses.dataclass(frozen=True)
class OtherHost:
    """The machine of the servers where it is not the one that the load came from, and the way between the two.

    ``address`` is how it was named, ``listens_on`` where the servers were asked; it is the ``same_machine`` where SSH
    led back to it. ``git`` is what ran there. ``round_trip_ms`` is the median time to an answer of a bare server there,
    over a connection that stays open, and ``megabits_per_s`` how fast a long answer came; None where the load goes to
    an address that did not prove to be that host. ``clock_ahead_ms`` is its clock minus that of the generator's
    machine, plus or minus ``clock_within_ms``. ``generator`` is the machine that the load came from.
    """

    address: str
    listens_on: str
    same_machine: bool
    git: Git
    round_trip_ms: Amount | None
    megabits_per_s: Amount | None
    clock_ahead_ms: Number
    clock_within_ms: Amount
    remarks: tuple[str, ...]
    generator: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class OtherClient:
    """Another machine that made a part of the load. ``address`` is how it was named, ``machine`` what it is, and it is
    the ``same_machine`` where SSH led back to this one. The way is that to the servers, as of OtherHost; the clock is
    its monotonic one minus that of the harness's machine, as the run began. It is looked at anew for each load."""

    address: str
    same_machine: bool
    machine: dict[str, Any]
    round_trip_ms: Amount | None
    megabits_per_s: Amount | None
    clock_ahead_ms: Number
    clock_within_ms: Amount


@dataclasses.dataclass(frozen=True)
class ServiceHost:
    """The machine that a service had to itself. ``address`` is how it was named, ``listens_on`` where the service was
    asked, ``machine`` what it is and ``version`` the service's; it is the ``same_machine`` where SSH led back to this
    one. The way is that from the servers, as of OtherHost."""

    service: Name
    address: str
    listens_on: str
    same_machine: bool
    machine: dict[str, Any]
    version: str | None
    round_trip_ms: Amount | None
    megabits_per_s: Amount | None
    remarks: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """A run. ``setups`` are by label, ``services`` the texts of their supervisor files by name; ``order`` is the order
    of trials; ``knobs`` are the environment variables that were set for the servers; ``database`` is DATABASE_URL
    without user and password. ``ceilings`` are those of tests whose rate was left to the run.

    ``machine`` and ``versions`` are those of the servers, told as they are: see ``loadtests.observe.machine``;
    ``servers`` says more where that is another machine than the generator's, ``clients`` are further ones that made
    the load, and ``service_hosts`` those that services had to themselves. Without ``ended`` the run is not complete,
    and can be resumed; ``measured_s`` is how long it has been measuring, over all its parts.
    """

    name: FileName
    created: Moment
    command: str
    study: Study
    setups: dict[Name, SetupRecord]
    seed: int
    goal: Goal | None
    application: OwnProject | None
    left_out: tuple[LeftOut, ...]
    contract: Contract
    order: tuple[Slot, ...]
    knobs: dict[Variable, str]
    database: str | None
    cores: dict[str, tuple[int, ...]]
    machine: dict[str, Any]
    versions: dict[str, Any]
    git: Git
    services: dict[str, str] = dataclasses.field(default_factory=dict)
    advice: Advice | None = None
    ceilings: Ceilings = dataclasses.field(default_factory=dict)
    servers: OtherHost | None = None
    clients: tuple[OtherClient, ...] = ()
    service_hosts: tuple[ServiceHost, ...] = ()
    measured_s: Amount = 0.0
    ended: Moment | None = None

    @property
    def places_left_out(self) -> frozenset[tuple[str, str]]:
        """Labels and tests of what is left out of a single test."""
        return frozenset((one.label, one.test) for one in self.left_out if one.test is not None)

    def to_json(self) -> dict[str, Any]:
        """The object that run.json holds, without its schema number."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        # A recording is long: it is told once, and not copied first.
        return {
            name: self.study.to_dict() if name == "study" else msgspec.to_builtins(value)
            for name, value in fields.items()
        }
