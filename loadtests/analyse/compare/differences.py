"""What differs between two runs beside their figures: machine, software, revision, knobs, study."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from loadtests.report.tables import flat
from loadtests.report.words import asked
from loadtests.workload import Request

About = Mapping[str, Any]  # what run.json holds

# What never stands still, and says nothing of the machine.
MOVING = ("mhz", "steal_s_since_boot")
# What makes a machine this one. A kernel or a governor is a setting: it may change, and is then said to have.
IDENTITY = ("cpu", "architecture", "cores", "virtualization")
MEMORY_TOLERANCE = 0.05  # what a kernel keeps for itself varies
# What makes two tests ask the same. Two lengths of one test still do.
ASKED = ("kind", "engine", "rate", "connections", "objective", "speed")
WHAT = ("path", "requests", "recorded")  # told in short
# Changes nothing that is measured, or is said elsewhere.
NOT_PARAMETERS = ("name", "title", "question", "entries", "tests")


@dataclasses.dataclass(frozen=True)
class Difference:
    """One thing that is not the same; None where a run does not have it. ``kind`` is the part of run.json it is in."""

    kind: str
    what: str
    before: str | None
    after: str | None


def differences(before: About, after: About) -> list[Difference]:
    """All that differs between two runs, the machine first."""
    first, second = _facts(before), _facts(after)
    return [
        Difference(*key, first.get(key), second.get(key))
        for key in dict.fromkeys([*first, *second])
        if first.get(key) != second.get(key)
    ]


def same_machine(before: About, after: About) -> bool:
    """Whether both ran on one machine, as far as processor, cores, memory and virtualization tell."""
    first, second = before["machine"], after["machine"]
    memory = sorted(float(machine.get("memory_mb") or 0) for machine in (first, second))
    alike = all(first.get(key) == second.get(key) for key in IDENTITY)
    return alike and memory[1] - memory[0] <= MEMORY_TOLERANCE * memory[1]


def same_test(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether two tests ask the same, so that their figures can be set side by side."""
    return all(before.get(key) == after.get(key) for key in ASKED) and _requests(before) == _requests(after)


def _requests(test: Mapping[str, Any]) -> list[Any]:
    """What a test sends, and when where that was recorded."""
    if "requests" not in test:  # a run of before
        return [Request(f"GET {test['path']}", path=test["path"]).to_dict()]
    return [*test["requests"], *test["recorded"]]


def _facts(about: About) -> dict[tuple[str, str], str]:
    """All that could differ, as text, by kind and name."""
    study, versions = about["study"], dict(about["versions"])
    packages, node_packages = versions.pop("packages", {}), versions.pop("node_packages", {})
    facts = {
        "machine": _machine(about["machine"]) | _rows({"cores used by the": about.get("cores") or {}}),
        "version": _rows(versions),
        "package": dict(packages),
        "node package": dict(node_packages),
        "git": {"revision": _revision(about)},
        "knob": {name: str(value) for name, value in (about.get("knobs") or {}).items()},
        "setup": {entry["label"]: _setup(entry, about) for entry in study["entries"]},
        "study": _rows({key: value for key, value in study.items() if key not in NOT_PARAMETERS}),
        "test": {name: text for test in study["tests"] for name, text in _test(test).items()},
    }
    return {(kind, name): text for kind, named in facts.items() for name, text in named.items()}


def _rows(values: Mapping[str, Any]) -> dict[str, str]:
    return dict(flat(dict(values)))


def _machine(machine: Mapping[str, Any]) -> dict[str, str]:
    still = {key: value for key, value in machine.items() if key not in (*MOVING, "memory_mb")}
    memory = machine.get("memory_mb")
    return _rows(still) | ({"memory": f"{memory / 1024:.0f} GiB"} if memory else {})


def _revision(about: About) -> str:
    git = about.get("git") or {}
    if not git.get("revision"):
        return "not known"
    # Two trees with changes are two trees, whatever revision they began from.
    changed = f" with changes of {about['created']}" if git.get("dirty") else ""
    return f"{git['revision'][:12]}{changed}"


def _setup(entry: Mapping[str, Any], about: About) -> str:
    config = ((about.get("setups") or {}).get(entry["label"]) or {}).get("config")
    parts = [entry["setup"], *(f"{key}={value}" for key, value in sorted(entry["env"].items()))]
    if config is not None:
        parts.append(f"(supervisor file {hashlib.sha256(config.encode()).hexdigest()[:8]})")
    return " ".join(parts)


def _test(test: Mapping[str, Any]) -> dict[str, str]:
    rows = {key: value for key, value in test.items() if key not in ("name", *WHAT) and value is not None}
    requests = _requests(test)
    whole = asked(test)
    if requests != _requests({"path": requests[0]["path"]}):  # more than a GET of a path: told apart by its digest
        whole += f" ({hashlib.sha256(json.dumps(requests).encode()).hexdigest()[:8]})"
    return {f"{test['name']} asks for": whole} | {
        f"{test['name']} {key.replace('_', ' ')}": value if isinstance(value, str) else json.dumps(value)
        for key, value in rows.items()
    }
