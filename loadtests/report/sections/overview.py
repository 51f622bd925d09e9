"""Describe the compared setups and the machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from loadtests.analyse.results import Results
from loadtests.formatting import flat, number, plural, series
from loadtests.observe.calibration import spread
from loadtests.plan.entries import Entry
from loadtests.plan.kinds import Test
from loadtests.plan.slices import SLICE_S
from loadtests.records.run.run_record import OtherClient, OtherHost, RunRecord, ServiceHost
from loadtests.report import tables
from loadtests.report.view import Section, Table

MIN_CALIBRATIONS = 4  # minimum number of calibrations for a report of the machine's speed


def section(results: Results) -> Section:
    record = results.record
    machine = flat(record.machine) + flat({"cores used by the": record.cores, "environment": record.knobs})
    return Section(
        "compared",
        "Compared setups and machines",
        (_where(results) + _services(results), _order(results) + _calibration(results)),
        (
            _setups(results),
            _tests(results),
            Table("machine", "Machine", ("property", "value"), tables.pairs(machine), folded=True),
        ),
        only_on_pages=True,
    )


def _order(results: Results) -> str:
    interleaved = [test for test in results.tests if results.study.interleaved(test)]
    if not interleaved:
        return "In each block the setups were started one after the other for each test, in shuffled order."
    # The calibration loop ran once before each round of slices, so the number of its runs is the number of rounds.
    rounds = {
        test.name: max((len(one.evidence.calibration_s) for one in results.trials if one.test == test.name), default=0)
        for test in interleaved
    }
    whole = [test.name for test in interleaved if rounds[test.name] == 1 and test.pace.seconds > SLICE_S]
    others = [test.name for test in results.tests if test not in interleaved]
    at_once = results.study.at_once
    who = f"{at_once} setups ran at once, including the baseline" if at_once else "all setups ran at once"
    lengths = [test.pace.seconds / rounds[test.name] for test in interleaved if rounds[test.name] > 1]
    longer = "".join(f" to {longest_s:.2g}" for longest_s in sorted(lengths)[-1:] if longest_s > 1.5 * SLICE_S)
    slices = "" if len(whole) == len(interleaved) else f" in {SLICE_S:g}{longer} s slices"
    text = f"In each block {who}, each on its own port; load was interleaved{slices}, in shuffled order."
    if whole:
        text += f" In {series(whole)}, whose answers take long, a slice was the whole test."
    if others:
        text += f" In {series(others)} setups were started one after the other."
    return text


def _calibration(results: Results) -> str:
    """Describe the drift of the machines' speed, if it was measured."""
    # All trials of a test in a block share these figures, so the figures of one trial are enough. A failed trial may
    # lack the figures of other hosts, so use the trial with the most hosts.
    known = sorted(results.trials, key=lambda trial: len(trial.evidence.other_hosts))
    moments = {(trial.test, trial.block, trial.attempt): trial.evidence for trial in known}
    seconds = [one for evidence in moments.values() for one in evidence.calibration_s]
    if len(seconds) < MIN_CALIBRATIONS:
        return ""
    hosts: dict[str, list[float]] = {}
    for evidence in moments.values():
        for machine in evidence.other_hosts:
            hosts.setdefault(machine.called, []).extend(machine.calibration_s)
    others = "".join(f"; on {name} {_spread(own)} ×" for name, own in hosts.items() if own)
    where = " on the servers' machine" if results.record.servers else ""
    return f" Calibration loop{where}: {_spread(seconds)} × its usual speed{others}."


def _spread(seconds: Sequence[float]) -> str:
    low, high = spread(seconds)
    return f"{low:.2f} to {high:.2f}"


def two_machines(results: Results) -> Iterator[str]:
    """Yield a sentence about the machines of servers, load generators and services, if there are several machines."""
    record = results.record
    apart = "".join(f", {one.service} on {one.address} ({_named(one.machine)})" for one in record.service_hosts)
    load = [f"{one.address} ({_named(one.machine)})" for one in record.clients]
    there = _named(record.machine)
    if (servers := record.servers) is not None:
        if record.workers is None:
            load.insert(0, f"{_called(servers)} ({_named(servers.generator)})")
        yield f"Servers on {servers.address} ({there}), load from {' and '.join(load)}{apart}; {_network(servers)}."
    elif load:
        yield f"Servers here ({there}), load from {' and '.join(load)}{apart}."
    elif apart:
        yield f"Servers and load here ({there}){apart}."


def _where(results: Results) -> str:
    record = results.record
    machine = ", ".join([machine_in_short(record.machine), *database_in_short(record)])
    others = "".join(f" {one}" for one in (*map(_client, record.clients), *map(_service, record.service_hosts)))
    if (servers := record.servers) is None:
        return f"Measured on {machine}.{others}"
    load, between = "", "Between that machine and this machine"
    if record.workers is None:
        load = f" The load came from {_called(servers)}: {machine_in_short(servers.generator)}."
        between = "Between the two machines"
    return (
        f"The servers ran on {servers.address}: {machine}.{load} {between} {_network(servers)}. Every response time "
        f"includes the network's latency. Near the network's maximum rate, the network is the limit.{others}"
    )


def _services(results: Results) -> str:
    """Return sentences about services on separate cores, or an empty string if no service had separate cores."""
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
    return (
        f"An equal share of the load came from {client.address}: {machine_in_short(client.machine)}. From this "
        f"client, {_network(client)}. Its clock was known to within {number(client.clock_uncertainty_ms)} ms."
    )


def _service(service: ServiceHost) -> str:
    version = f" {service.version}" if service.version else ""
    return (
        f"The service {service.service}{version} ran on {service.address}, on {_called(service)}: "
        f"{machine_in_short(service.machine)}. From the servers, {_network(service)}."
    )


def _called(host: OtherHost | ServiceHost) -> str:
    return "the same machine" if host.same_machine else "another machine"


def _network(servers: OtherHost | OtherClient | ServiceHost) -> str:
    if servers.round_trip_ms is None or servers.megabits_per_s is None:
        return "the network was not measured"
    return (
        f"an empty answer takes {servers.round_trip_ms:.2f} ms and a long answer arrives at "
        f"{servers.megabits_per_s:,.0f} Mbit/s"
    )


def _named(machine: Mapping[str, Any]) -> str:
    return ", ".join(machine_in_short(machine).split(", ")[:2])


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


def _tests(results: Results) -> Table:
    columns: dict[str, Callable[[Test], str]] = {
        "test": lambda test: test.name,
        "what is sent": lambda test: test.description,
        "engine": lambda test: test.engine,
        "measured for": lambda test: test.pace.length,
        "after a warm-up of": lambda test: f"{test.warmup_s:g} s",
    }
    return tables.listed("tests", "Tests", results.tests, columns, "", tables.Layout(("what is sent", "engine")))
