"""What was compared, and on what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loadtests.analyse.results import Results
from loadtests.formatting import flat, number, plural, series
from loadtests.observe.calibration import spread
from loadtests.plan.slices import SLICE_S
from loadtests.records.run.run_record import OtherClient, OtherHost, ServiceHost
from loadtests.report import tables
from loadtests.report.view import Field, Section, Table

SPINS_TO_SAY = 4


def section(results: Results) -> Section:
    """The setups, the tests and the machine."""
    record = results.record
    machine = flat(record.machine) + flat({"cores used by the": record.cores, "environment": record.knobs})
    return Section(
        "compared",
        "What was compared, and on what",
        (_where(results) + _services(results), _how(results) + _speed(results)),
        (
            _setups(results),
            _tests(results),
            Table("machine", "Machine", ("property", "value"), tables.pairs(machine), folded=True),
        ),
        only_on_pages=True,
    )


def _how(results: Results) -> str:
    """In which order the setups were measured."""
    together = [test for test in results.tests if results.study.interleaved(test)]
    if not together:
        return "In each block every setup was started for each test, one after the other, in shuffled order."
    # Before each round of slices the machine's speed was seen, so there were as many rounds.
    rounds = {test.name: _rounds(results, test.name) for test in together}
    whole = [test.name for test in together if rounds[test.name] == 1 and test.seconds > SLICE_S]
    apart = [test.name for test in results.tests if test not in together]
    some = f" In {series(whole)}, where answers take long, a turn was the whole of the test." if whole else ""
    but = f" In {series(apart)} one was started after the other." if apart else ""
    each = "" if len(whole) == len(together) else "half a second each, "
    some_of = f"{results.study.at_once} setups ran at once, the baseline among them"
    who = some_of if results.study.at_once else "all setups ran at once"
    at_once = f"In each block {who}, each on a port of its own, and were asked by turns"
    return f"{at_once}, {each}in shuffled order.{some}{but}"


def _rounds(results: Results, test: str) -> int:
    return max((len(trial.evidence.calibration_s) for trial in results.trials if trial.test == test), default=0)


def _speed(results: Results) -> str:
    """How the machine's speed wandered meanwhile, where that was seen."""
    # The trials of a test in a block were measured by turns, and have the same; one that failed knows of no others.
    known = sorted(results.trials, key=lambda trial: len(trial.evidence.other_hosts))
    moments = {(trial.test, trial.block, trial.attempt): trial.evidence for trial in known}
    seconds = [one for evidence in moments.values() for one in evidence.calibration_s]
    if len(seconds) < SPINS_TO_SAY:
        return ""
    beside: dict[str, list[float]] = {}
    for evidence in moments.values():
        for machine in evidence.other_hosts:
            beside.setdefault(machine.called, []).extend(machine.calibration_s)
    there = "".join(f"; that of {called}: {_spread(own)}" for called, own in beside.items() if own)
    whose = "The speed of the servers' machine" if results.record.servers else "This machine's speed"
    return f" {whose} while this ran: {_spread(seconds)} of the usual, by a fixed piece of work{there}."


def _spread(seconds: Sequence[float]) -> str:
    low, high = spread(seconds)
    return f"{low:.2f} to {high:.2f}"


def two_machines(results: Results) -> Iterator[str]:
    """What ran where, in a sentence; nothing where all ran on one machine."""
    servers, services = results.record.servers, results.record.service_hosts
    apart = "".join(f", {one.service} on {one.address} ({_named(one.machine)})" for one in services)
    if servers is None and services:
        yield f"Servers and load here ({_named(results.record.machine)}){apart}."
    if servers is not None:
        there, here = (_named(machine) for machine in (results.record.machine, servers.generator))
        load = f"{_called(servers)} ({here})"
        others = "".join(f" and {one.address} ({_named(one.machine)})" for one in results.record.clients)
        yield f"Servers on {servers.address} ({there}), load from {load}{others}{apart}; {_network(servers)}."


def _where(results: Results) -> str:
    machine = ", ".join([machine_in_short(results.record.machine), *database_in_short(results)])
    servers = results.record.servers
    apart = "".join(f" {_service(one)}" for one in results.record.service_hosts)
    if servers is None:
        return f"Measured on {machine}.{apart}"
    return (
        f"The servers ran on {servers.address}: {machine}. The load came from {_called(servers)}: "
        f"{machine_in_short(servers.generator)}. Between the two {_network(servers)}: the former is in every response "
        "time, and where answers together come near the latter, the network is the limit."
        + "".join(f" {_client(one)}" for one in results.record.clients)
        + apart
    )


def _services(results: Results) -> str:
    """Where the services ran that were not where the servers were, in a sentence each."""
    labels: dict[tuple[tuple[int, ...], bool], dict[str, None]] = {}
    for trial in results.trials:
        if (cores := trial.cores.get("services")) is not None:
            with_load = results.record.servers is None and bool(set(cores) & set(trial.cores["generator"]))
            labels.setdefault((tuple(cores), with_load), {})[trial.label] = None
    return "".join(
        f" The services of {series(list(of))} ran on the {'cores' if len(cores) > 1 else 'core'} "
        f"{series([str(core) for core in cores])}{', as did the load generator' if with_load else ''}."
        for (cores, with_load), of in labels.items()
    )


def _client(client: OtherClient) -> str:
    """A further machine that made load, in a sentence."""
    return (
        f"An equal part of the load came from {client.address}: {machine_in_short(client.machine)}; from there "
        f"{_network(client)}. Its clock was known to within {number(client.clock_uncertainty_ms)} ms."
    )


def _service(service: ServiceHost) -> str:
    """A service on a machine of its own, in a sentence."""
    version = f" {service.version}" if service.version else ""
    return (
        f"The service {service.service}{version} ran on {service.address}, on {_called(service)}: "
        f"{machine_in_short(service.machine)}; from the servers {_network(service)}."
    )


def _called(host: OtherHost | ServiceHost) -> str:
    return "the same machine" if host.same_machine else "another machine"


def _network(servers: OtherHost | OtherClient | ServiceHost) -> str:
    if servers.round_trip_ms is None or servers.megabits_per_s is None:
        return "the network was not measured"
    return (
        f"a bare answer takes {servers.round_trip_ms:.2f} ms and a long one comes at "
        f"{servers.megabits_per_s:,.0f} Mbit/s"
    )


def _named(machine: Mapping[str, Any]) -> str:
    return ", ".join(machine_in_short(machine).split(", ")[:2])


def machine_in_short(machine: Mapping[str, Any]) -> str:
    """``AMD EPYC, 2 cores, kvm, Linux 6.18``: what of a machine a reader asks first, as far as it is known."""
    count = machine.get("cores")
    cores = plural(count, "core") if isinstance(count, int) else None
    named = [machine.get(name) for name in ("cpu", "virtualization", "kernel", "distribution")]
    return ", ".join(part for part in (named[0], cores, *named[1:]) if isinstance(part, str)) or "an unknown machine"


def database_in_short(results: Results) -> list[str]:
    """``PostgreSQL`` where DATABASE_URL named one; nothing of the sample project's own SQLite."""
    return ["PostgreSQL"] if (results.record.database or "").startswith("postgres") else []


def _setups(results: Results) -> Table:
    rows = tuple(
        (
            Field(entry.label),
            Field(entry.setup),
            Field(results.setup(entry.label).label),
            Field(results.setup(entry.label).interface),
            Field(" ".join(f"{key}={value}" for key, value in entry.env.items()) or "defaults"),
        )
        for entry in results.study.entries
    )
    return Table("setups", "Setups", ("label", "setup", "how it is served", "interface", "knobs"), rows)


def _tests(results: Results) -> Table:
    rows = tuple(
        (
            Field(test.name),
            Field(test.description),
            Field(test.engine),
            Field(test.length),
            Field(f"{test.warmup_s:g} s"),
        )
        for test in results.tests
    )
    heads = ("test", "what is sent", "engine", "measured for", "after a warm-up of")
    return Table("tests", "Tests", heads, rows, numeric=frozenset({3, 4}))
