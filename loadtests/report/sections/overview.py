"""Describe the compared setups and the machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loadtests.analyse.results import Results
from loadtests.formatting import capital, flat, plural, series
from loadtests.observe.calibration import spread
from loadtests.plan.entries import Entry
from loadtests.plan.kinds import Test
from loadtests.records.run.run_record import OtherClient, OtherHost, RunRecord
from loadtests.report import tables
from loadtests.report.view import Section, Table

MIN_CALIBRATIONS = 4  # minimum number of calibrations for a report of the machine's speed


@dataclass(frozen=True)
class _Machine:
    """A machine of a run: its role, its address, its hardware, and the network between this machine and the servers."""

    role: str
    place: str
    machine: str
    network: str = ""


def section(results: Results) -> Section:
    record = results.record
    machine = flat(record.machine) + flat({"cores used by the": record.cores, "environment": record.knobs})
    return Section(
        "compared",
        "Compared setups and machines",
        (f"{_order(results)}{_calibration(results)}",),
        (
            _setups(results),
            _tests(results),
            _places(record),
            Table("machine", "Machine", ("property", "value"), tables.pairs(machine), folded=True),
        ),
        only_on_pages=True,
    )


def _order(results: Results) -> str:
    interleaved = [test for test in results.tests if results.study.interleaved(test)]
    if not interleaved:
        return "In each block the setups were started one after the other for each test, in shuffled order."
    others = [test.name for test in results.tests if test not in interleaved]
    text = (
        "In each block all setups ran at once, each on its own port; load was interleaved in slices, in shuffled order."
    )
    if others:
        text += f" In {series(others)} setups were started one after the other."
    return text


def _calibration(results: Results) -> str:
    """Describe the drift of the speed of the servers' machine, if it was measured."""
    # All trials of a test in a block share these figures, so the figures of one trial are enough.
    moments = {(trial.test, trial.block, trial.attempt): trial.evidence for trial in results.trials}
    seconds = [one for evidence in moments.values() for one in evidence.calibration_s]
    if len(seconds) < MIN_CALIBRATIONS:
        return ""
    low, high = spread(seconds)
    return f" Calibration loop: {low:.2f} to {high:.2f} × its usual speed."


def _machines(record: RunRecord) -> Iterator[_Machine]:
    """Yield the machine of the servers, and the machines of load generators, unless they are the same."""
    servers = record.servers
    here = servers.address if servers else "this machine"
    yield _Machine("servers", here, ", ".join([machine_in_short(record.machine), *database_in_short(record)]))
    if servers and record.workers is None:
        called = "the same machine" if servers.same_machine else "another machine"
        yield _Machine("load", called, machine_in_short(servers.generator), _network(servers))
    for client in record.clients:
        yield _Machine("load", client.address, machine_in_short(client.machine), _network(client))


def two_machines(results: Results) -> Iterator[str]:
    """Yield a sentence about the machines of servers and load generators, if there are several machines."""
    found = list(_machines(results.record))
    if len(found) > 1:
        places = [f"{one.role} on {one.place} ({', '.join(one.machine.split(', ')[:2])})" for one in found]
        networks = dict.fromkeys(one.network for one in found if one.network)
        yield f"{capital('; '.join(places))}. Network: {'; '.join(networks)}."


def _network(servers: OtherHost | OtherClient) -> str:
    if servers.round_trip_ms is None or servers.megabits_per_s is None:
        return "not measured"
    return (
        f"an empty answer takes {servers.round_trip_ms:.2f} ms and a long answer arrives at "
        f"{servers.megabits_per_s:,.0f} Mbit/s"
    )


def machine_in_short(machine: Mapping[str, Any]) -> str:
    """Describe a machine, such as ``AMD EPYC, 2 cores, kvm, Linux 6.18``."""
    count = machine.get("cores")
    cores = plural(count, "core") if isinstance(count, int) else None
    named = [machine.get(name) for name in ("cpu", "virtualization", "kernel", "distribution")]
    return ", ".join(part for part in (named[0], cores, *named[1:]) if isinstance(part, str)) or "an unknown machine"


def database_in_short(record: RunRecord) -> list[str]:
    """Return a list with ``PostgreSQL`` if DATABASE_URL named a PostgreSQL database, or an empty list for SQLite."""
    return ["PostgreSQL"] if (record.database or "").startswith("postgres") else []


def _setups(results: Results) -> Table:
    columns: dict[str, Callable[[Entry], str]] = {
        "label": lambda entry: entry.label,
        "setup": lambda entry: entry.setup,
        "how it is served": lambda entry: results.setup(entry.label).label,
        "interface": lambda entry: results.setup(entry.label).interface,
        "knobs": lambda entry: " ".join(f"{key}={value}" for key, value in entry.env.items()) or "defaults",
    }
    if results.record.environments:
        columns["environment"] = lambda entry: " and ".join(entry.variant) or "as it is"
    return tables.listed("setups", "Setups", results.study.entries, columns, "", tables.Layout(tuple(columns)))


def _places(record: RunRecord) -> Table:
    columns: dict[str, Callable[[_Machine], str]] = {
        "what ran": lambda one: one.role,
        "on": lambda one: one.place,
        "machine": lambda one: one.machine,
        "network to the servers": lambda one: one.network,
    }
    note = "Every response time includes the network's latency." if record.servers else ""
    return tables.listed("machines", "Machines", _machines(record), columns, note, tables.Layout(tuple(columns)))


def _tests(results: Results) -> Table:
    columns: dict[str, Callable[[Test], str]] = {
        "test": lambda test: test.name,
        "what is sent": lambda test: test.description,
        "engine": lambda test: test.engine,
        "measured for": lambda test: test.pace.length,
        "after a warm-up of": lambda test: f"{test.warmup_s:g} s",
    }
    return tables.listed("tests", "Tests", results.tests, columns, "", tables.Layout(("what is sent", "engine")))
