"""Compare the machine, software, revision, knobs and study of two runs, but not their results."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from loadtests.formatting import DASH, flat, series
from loadtests.plan.entries import Entry
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.base import SUMMARISED
from loadtests.records.run.run_record import RunRecord

# The CPU's clock rate and the steal time always change, so they aren't compared.
MOVING = ("mhz", "steal_s_since_boot")
# Two machines are treated as the same machine if these values are equal and the memory sizes are similar. The kernel
# and the governor aren't in the list, because they are settings of a machine.
IDENTITY = ("cpu", "architecture", "cores", "virtualization")
MEMORY_TOLERANCE = 0.05  # The memory sizes may differ by this share, because the kernel reserves a varying share.
# These fields of a study aren't parameters of the measurement, or they are compared separately.
NOT_PARAMETERS = ("name", "title", "question", "entries", "tests")


@dataclasses.dataclass(frozen=True)
class RunDifference:
    """A difference between two runs.

    ``kind`` is a part of run.json. ``before`` or ``after`` is None if that run doesn't contain the value.
    """

    kind: str
    what: str
    before: str | None
    after: str | None


def differences(before: RunRecord, after: RunRecord) -> list[RunDifference]:
    """Return all differences between two runs. The differences between their machines come first."""
    first, second = _facts(before), _facts(after)
    return [
        RunDifference(*key, first.get(key), second.get(key))
        for key in dict.fromkeys([*first, *second])
        if first.get(key) != second.get(key)
    ]


def same_machine(before: RunRecord, after: RunRecord) -> bool:
    """Return whether all hosts have the same processor, cores, memory and virtualization in both runs."""
    services = [{one.service: one.machine for one in run.service_hosts} for run in (before, after)]
    if services[0].keys() != services[1].keys():
        return False
    if not all(_alike(machine, services[1][name]) for name, machine in services[0].items()):
        return False
    if (before.servers is None) != (after.servers is None):
        return False
    if before.servers and after.servers and not _alike(before.servers.generator, after.servers.generator):
        return False
    return _alike(before.machine, after.machine)


def _alike(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    memory = sorted(float(machine.get("memory_mb") or 0) for machine in (first, second))
    alike = all(first.get(key) == second.get(key) for key in IDENTITY)
    return alike and memory[1] - memory[0] <= MEMORY_TOLERANCE * memory[1]


def _facts(run: RunRecord) -> dict[tuple[str, str], str]:
    """Return the text of each value of a run that could be different in another run, by kind and name."""
    study, versions = run.study.to_dict(), dict(run.versions)
    packages, node_packages = versions.pop("packages", {}), versions.pop("node_packages", {})
    facts = {
        "machine": _machine(run.machine) | _rows({"cores used by the": run.cores}),
        "where": _hosts(run),
        "version": _rows({name: version for name, version in versions.items() if version is not None}),
        "package": dict(packages),
        "node package": dict(node_packages),
        "git": {"revision": _revision(run)},
        "knob": run.knobs,
        "setup": {entry.label: _setup(entry, run) for entry in run.study.entries},
        "study": _rows({key: value for key, value in study.items() if key not in NOT_PARAMETERS}),
        "test": {name: text for test in run.study.tests for name, text in _test(test).items()},
    }
    return {(kind, name): text for kind, named in facts.items() for name, text in named.items()}


def _rows(values: Mapping[str, Any]) -> dict[str, str]:
    return dict(flat(dict(values)))


def _machine(machine: Mapping[str, Any]) -> dict[str, str]:
    still = {key: value for key, value in machine.items() if key not in (*MOVING, "memory_mb")}
    memory = machine.get("memory_mb")
    return _rows(still) | ({"memory": f"{memory / 1024:.0f} GiB"} if memory else {})


def _hosts(run: RunRecord) -> dict[str, str]:
    """Describe the machines of the servers, the load generator and the services."""
    services = {
        name: value
        for one in run.service_hosts
        for name, value in [
            (f"{one.service} on", one.address),
            (f"{one.service}'s version", one.version or DASH),
            *((f"{one.service}'s {name}", value) for name, value in _machine(one.machine).items()),
        ]
    }
    if run.servers is None:
        return {"servers and generator": "on one machine", **services}
    generator = {f"generator's {name}": value for name, value in _machine(run.servers.generator).items()}
    clients = {"load also from": series([one.address for one in run.clients])} if run.clients else {}
    return {
        "servers and generator": "on two machines",
        "servers on": run.servers.address,
        **generator,
        **clients,
        **services,
    }


def _revision(run: RunRecord) -> str:
    if not run.git.revision:
        return "not known"
    # Two runs of the same revision can have different uncommitted changes, so add the time of the run.
    changed = f" with changes of {run.created}" if run.git.dirty else ""
    return f"{run.git.revision[:12]}{changed}"


def _setup(entry: Entry, run: RunRecord) -> str:
    digest = hashlib.sha256(run.setups[entry.label].config.encode()).hexdigest()[:8]
    knobs = (f"{key}={value}" for key, value in sorted(entry.env.items()))
    return " ".join([entry.setup, *entry.variant, *knobs, f"(supervisor file {digest})"])


def _test(test: Test) -> dict[str, str]:
    fields = {key: value for key, value in test.record().items() if key not in SUMMARISED and value is not None}
    return {f"{test.name} asks for": test.exact_description} | {
        f"{test.name} {key.replace('_', ' ')}": value if isinstance(value, str) else json.dumps(value)
        for key, value in fields.items()
    }
