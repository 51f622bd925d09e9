"""Define the type of run.json: the study, the machines and the order of a run."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from loadtests.plan.schedule import Slot
from loadtests.plan.study import Study
from loadtests.records.bounds import Amount, FileName, Moment, Name, Number, Ordinal, Positive, Share, Variable, about
from loadtests.workload.secrets import without_secret_headers


@dataclasses.dataclass(frozen=True)
class Expectation:
    """The answer that every setup must return to one request."""

    status: Annotated[int, about("The status.")]
    content_type: Annotated[str, about("The content type.")]
    sha256: Annotated[str | None, about("The SHA-256 of the body, or null if bodies aren't compared.")]


Contract = dict[Name, tuple[Expectation, ...]]
Ceilings = dict[Name, dict[Name, Positive]]


@dataclasses.dataclass(frozen=True)
class SetupRecord:
    """A setup in the run."""

    label: Annotated[str, about("The setup's label.")]
    interface: Annotated[str, about("The setup's interface.")]
    config: Annotated[str, about("The text of the setup's supervisor file, or the deployed command.")]


@dataclasses.dataclass(frozen=True)
class LeftOut:
    """A setup that is left out of one test or of all tests."""

    label: Annotated[Name, about("The setup's label.")]
    test: Annotated[Name | None, about("The test in which the setup isn't measured, or null for all tests.")]
    why: Annotated[str, about("The reason.")]


@dataclasses.dataclass(frozen=True)
class Goal:
    """The condition that ends a run with --precision. The run adds blocks until the condition is met."""

    until: Annotated[Share, about("The run ends when every interval is within plus or minus this share.")]
    max_time_s: Annotated[Positive, about("The run ends after this time, in seconds.")]


@dataclasses.dataclass(frozen=True)
class OwnProject:
    """The user's own project, if the run served it."""

    options: Annotated[
        dict[str, str | list[str] | dict[str, str | list[str]]],
        about("The options of the command line, with absolute paths. Only the path of an --env-file is included."),
    ]
    remarks: Annotated[
        tuple[Annotated[str, Meta(min_length=1)], ...], about("Remarks about the project for the reader.")
    ]
    python: Annotated[str, about("The project's Python version.")]
    django: Annotated[str, about("The project's Django version.")]
    debug: Annotated[bool, about("DEBUG in the project's settings.")]
    wsgi: Annotated[str | None, about("The project's WSGI application.")]
    asgi: Annotated[str | None, about("The project's ASGI application.")]
    middleware: Annotated[int, about("The number of middleware.")]
    packages: Annotated[dict[str, str], about("The versions of the project's packages.")]
    settings: Annotated[str | None, about("The settings module, with the class for django-configurations.")] = None


@dataclasses.dataclass(frozen=True)
class EnvironmentRecord:
    """The Python environment of setups with variants."""

    variant: Annotated[tuple[str, ...], about("The variants.")]
    python: Annotated[str, about("The Python version.")]
    packages: Annotated[dict[str, str], about("The versions of the environment's packages.")]


@dataclasses.dataclass(frozen=True)
class Git:
    """The revision of the project. Fields are None if git doesn't know them."""

    revision: Annotated[Annotated[str, Meta(pattern=r"^[0-9a-f]{7,64}\Z")] | None, about("The revision.")]
    dirty: Annotated[bool | None, about("Whether the working tree had uncommitted changes.")]


@dataclasses.dataclass(frozen=True)
class OtherHost:
    """The host of the servers, if it isn't the machine that generated the load."""

    address: Annotated[str, about("The host's address as the user typed it.")]
    listens_on: Annotated[str, about("The address that received the load.")]
    same_machine: Annotated[bool, about("Whether the SSH address led back to the harness's machine.")]
    git: Annotated[Git, about("The project's revision on the host.")]
    round_trip_ms: Annotated[Amount | None, about("The median time until an empty answer over an open connection.")]
    megabits_per_s: Annotated[Amount | None, about("The speed of a long answer, or null if it wasn't measured.")]
    remarks: Annotated[tuple[str, ...], about("Remarks for readers.")]
    generator: Annotated[dict[str, Any], about("The machine that generated the load.")]


@dataclasses.dataclass(frozen=True)
class OtherClient:
    """A client machine or an external worker that generated an equal part of the load."""

    address: Annotated[str, about("The client's address as the user typed it, or a worker's number and host.")]
    same_machine: Annotated[bool, about("Whether the client is the harness's machine.")]
    machine: Annotated[dict[str, Any], about("The machine.")]
    round_trip_ms: Annotated[Amount | None, about("The median time until an empty answer from the servers.")]
    megabits_per_s: Annotated[Amount | None, about("The speed of a long answer.")]
    clock_ahead_ms: Annotated[Number, about("The client's minus the harness's monotonic clock, at the run's start.")]
    clock_uncertainty_ms: Annotated[Amount, about("The uncertainty of clock_ahead_ms, plus or minus.")]


@dataclasses.dataclass(frozen=True)
class ExpectedWorkers:
    """The workers that the user started, and the address of their master."""

    count: Annotated[Ordinal, about("The number of workers, which generated equal parts of the load.")]
    bind: Annotated[str, about("The address and port of the master.")]
    max_wait_s: Annotated[Amount, about("The maximum wait for the workers, in seconds.")]


@dataclasses.dataclass(frozen=True)
class RunRecord:
    """The study, the machines and the order of a run."""

    name: Annotated[FileName, about("The study's name.")]
    created: Annotated[Moment, about("The start of the run (UTC).")]
    command: Annotated[str, about("The command line.")]
    study: Annotated[Study, about("The resolved study (:doc:`studies`), with the requests of its tests.")]
    setups: Annotated[dict[Name, SetupRecord], about("The setups, by label.")]
    seed: Annotated[int, about("The seed of the order of trials.")]
    goal: Annotated[Goal | None, about("With --precision: the condition that ends the run.")]
    application: Annotated[OwnProject | None, about("With --app: the served project.")]
    left_out: Annotated[tuple[LeftOut, ...], about("The setups that were not measured, with the test and the reason.")]
    contract: Annotated[Contract, about("The baseline's first answers, by test, in the order of the requests.")]
    order: Annotated[tuple[Slot, ...], about("The order of trials.")]
    knobs: Annotated[dict[Variable, str], about("The :ref:`knobs` that were set, without users and passwords.")]
    database: Annotated[str | None, about("DATABASE_URL without user, password and options.")]
    cores: Annotated[dict[str, tuple[int, ...]], about("The cores of the servers and of the generator.")]
    machine: Annotated[dict[str, Any], about("The servers' machine: processor, cores, memory, kernel, limits.")]
    versions: Annotated[dict[str, Any], about("Versions of Python, Node, Redis and packages on the servers' machine.")]
    git: Annotated[Git, about("The project's revision.")]
    services: Annotated[dict[str, str], about("The texts of the services' supervisor files, by name.")] = (
        dataclasses.field(default_factory=dict)
    )
    ceilings: Annotated[
        Ceilings,
        about("With automatic rates: the highest rates, measured before the first block, by test and label."),
    ] = dataclasses.field(default_factory=dict)
    servers: Annotated[OtherHost | None, about("With --servers: the servers' host (:doc:`../two-machines`).")] = None
    clients: Annotated[tuple[OtherClient, ...], about("With --clients: additional machines that generated load.")] = ()
    workers: Annotated[
        ExpectedWorkers | None,
        about("With --expect-workers: the workers that generated the load. Each worker is also in ``clients``."),
    ] = None
    environments: Annotated[tuple[EnvironmentRecord, ...], about("With variants: the Python environments.")] = ()
    measured_s: Annotated[Amount, about("The measured seconds, including the time before the run was resumed.")] = 0.0
    ended: Annotated[Moment | None, about("The end of the run (UTC), or null while it can be resumed.")] = None

    def __post_init__(self) -> None:
        study = self.study
        labels = [entry.label for entry in study.entries]
        tests = [test.name for test in study.tests]
        named = {study.baseline, *(entry.against or study.baseline for entry in study.entries)}
        places = [(slot.label, slot.test) for slot in self.order]
        distinct = all(len(set(names)) == len(names) for names in (labels, tests, [slot.number for slot in self.order]))
        known = named <= set(labels) <= self.setups.keys() and set(places) <= set(itertools.product(labels, tests))
        if not (labels and tests and distinct and known):
            raise ValueError("its study, its setups and its order contradict each other")

    @property
    def places_left_out(self) -> frozenset[tuple[str, str]]:
        """The pairs of label and test for setups that are left out of a single test."""
        return frozenset((one.label, one.test) for one in self.left_out if one.test is not None)

    def to_json(self) -> dict[str, Any]:
        """Return the content of run.json without its schema number."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        # The study may contain a long recording, so don't copy all fields first.
        return {
            name: self._study() if name == "study" else msgspec.to_builtins(value) for name, value in fields.items()
        }

    def _study(self) -> dict[str, Any]:
        """Return the study for run.json, without the values of secret headers in requests to a user's project."""
        study = self.study.to_dict()
        if self.application is not None:
            for request in (request for test in study["tests"] for request in test["requests"]):
                request["headers"] = without_secret_headers(request["headers"])
        return study
