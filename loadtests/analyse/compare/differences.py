"""Compare the machine, software, revision, knobs and study of two runs, but not their results."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

from loadtests.formatting import flat
from loadtests.plan.entries import Entry
from loadtests.plan.kinds import Test
from loadtests.plan.kinds.base import SUMMARISED
from loadtests.records.run.run_record import RunRecord

# The CPU's clock rate and the steal time always change, so they aren't compared. The kernel reserves a varying share of
# the memory, so its size is rounded.
MOVING = ("mhz", "steal_s_since_boot", "memory_mb")
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
    first, second = _machines(before), _machines(after)
    return first.keys() == second.keys() and all(_alike(machine, second[name]) for name, machine in first.items())


def _machines(run: RunRecord) -> dict[str, dict[str, Any]]:
    """Return the machines of the servers and of a separate load generator, by role."""
    generator = {"generator": run.servers.generator} if run.servers else {}
    return {"servers": run.machine, **generator}


def _alike(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    memory = sorted(float(machine.get("memory_mb") or 0) for machine in (first, second))
    alike = all(first.get(key) == second.get(key) for key in IDENTITY)
    return alike and memory[1] - memory[0] <= MEMORY_TOLERANCE * memory[1]


def _facts(run: RunRecord) -> dict[tuple[str, str], str]:
    """Return the text of each value of a run that could be different in another run, by kind and name."""
    servers, git = run.servers.address if run.servers else "the generator's machine", run.git
    facts = {
        "machine": {name: _still(machine) for name, machine in _machines(run).items()},
        "address": {"servers": servers, "clients": [one.address for one in run.clients]},
        "cores": run.cores,
        "version": run.versions,
        # Two runs of the same revision can have different uncommitted changes, so add the time of the run.
        "git": {"revision": f"{git.revision} with changes of {run.created}" if git.dirty else git.revision},
        "knob": run.knobs,
        "setup": {entry.label: _setup(entry, run) for entry in run.study.entries},
        "study": {key: value for key, value in run.study.to_dict().items() if key not in NOT_PARAMETERS},
        "test": {test.name: _test(test) for test in run.study.tests},
    }
    return {(kind, name): text for kind, values in facts.items() for name, text in flat(values)}


def _still(machine: Mapping[str, Any]) -> dict[str, Any]:
    memory = {"memory": f"{machine['memory_mb'] / 1024:.0f} GiB"} if machine.get("memory_mb") else {}
    return {key: value for key, value in machine.items() if key not in MOVING} | memory


def _setup(entry: Entry, run: RunRecord) -> dict[str, str]:
    digest = hashlib.sha256(run.setups[entry.label].config.encode()).hexdigest()[:8]
    return {"served by": " ".join([entry.setup, *entry.variant]), "supervisor file": digest, **entry.env}


def _test(test: Test) -> dict[str, Any]:
    fields = {key: value for key, value in test.record().items() if key not in SUMMARISED and value is not None}
    return {"asks for": test.exact_description, **fields}
