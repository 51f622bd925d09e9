"""Create the content of profile.json, the figures of a profile."""

from __future__ import annotations

import dataclasses
import datetime
import shlex
import statistics
import sys
from collections.abc import Sequence
from typing import Any

from loadtests import setups
from loadtests.observe import machine
from loadtests.profile.record import Plan, ProfileRound, Window
from loadtests.profile.shares import Role, by_role
from loadtests.setups.application.own_websocket import without_secrets

SCHEMA = 2
GENERATOR_FULL = 0.9  # of a core


def document(plan: Plan, rounds: Sequence[ProfileRound]) -> dict[str, Any]:
    """Return the content of profile.json. docs/profiling.rst describes its keys."""
    roles = by_role([one.processes for one in rounds], _cpu_us_per_request(rounds))
    return {
        "schema": SCHEMA,
        "setup": plan.setup.name,
        "label": plan.setup.label,
        "interface": plan.setup.interface,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["python", "-m", "loadtests", *without_secrets(sys.argv[1:])]),
        "path": plan.path,
        "rate": plan.rate,
        "duration_s": plan.duration_s,
        "rates": [one.undisturbed.result.rate for one in rounds],
        "roles": [_role(role) for role in roles],
        "disturbance": _disturbance(rounds),
        "notes": _notes(plan, rounds),
        "knobs": setups.given(),
        "cores": plan.cores.to_dict({}),
        "machine": machine.describe(),
        "versions": machine.versions(),
        "git": machine.git(),
    }


def _role(role: Role) -> dict[str, Any]:
    values = dataclasses.asdict(role)
    for share in values["shares"]:
        share["category"] = share["category"].value
    return values


def _cpu_us_per_request(rounds: Sequence[ProfileRound]) -> dict[str, float]:
    """Return each role's CPU time per answered request without sampling, in microseconds: the median over rounds."""
    roles = dict.fromkeys(row.role for one in rounds for row in one.undisturbed.processes)
    return {
        role: statistics.median(
            sum(row.cpu_s for row in one.undisturbed.processes if row.role == role)
            / one.undisturbed.result.completed
            * 1e6
            for one in rounds
        )
        for role in roles
    }


def _disturbance(rounds: Sequence[ProfileRound]) -> dict[str, float]:
    """Return how much sampling changed the rate and the CPU time per request: relative medians over rounds."""

    def rate(windows: Sequence[Window]) -> float:
        return statistics.mean(window.result.rate for window in windows)

    def cpu(windows: Sequence[Window]) -> float:
        used = sum(row.cpu_s for window in windows for row in window.processes)
        return float(used) / sum(window.result.completed for window in windows)

    pairs = [(one.sampled, [one.undisturbed]) for one in rounds]
    return {
        "rate": statistics.median(rate(under) / rate(free) for under, free in pairs) - 1,
        "cpu_per_request": statistics.median(cpu(under) / cpu(free) for under, free in pairs) - 1,
    }


def _notes(plan: Plan, rounds: Sequence[ProfileRound]) -> list[str]:
    """Return notes that a reader needs to understand the results."""
    notes = [f"{remark[0].upper()}{remark[1:]}." for remark in plan.remarks]
    results = [window.result for one in rounds for window in (one.undisturbed, *one.sampled)]
    if plan.rate and min(one.undisturbed.result.rate for one in rounds) < 0.95 * plan.rate:
        notes.append(f"The setup did not answer {plan.rate:g} requests a second, because it was overloaded.")
    if any(sum(part.cpu_s for part in one.generator) > GENERATOR_FULL * one.generator[0].wall_s for one in results):
        notes.append("The load generator's core was full, so the setup could have answered more requests.")
    if plan.cores.shared:
        notes.append("The load generator and the servers share a core.")
    idle = dict.fromkeys(one.role for each in rounds for one in each.processes if one.stacks and not one.busy)
    for role in idle:
        notes.append(
            f"{role} was often idle. The kernel's tick then misses a part of its CPU time, so the share outside "
            "Python is unknown. Use more load or a quieter machine."
        )
    foreign = dict.fromkeys(
        (process.role, process.name) for one in rounds for process in one.processes if process.stacks is None
    )
    total = sum(process.cpu_s for one in rounds for process in one.processes)
    for role, name in foreign:
        used = sum(process.cpu_s for one in rounds for process in one.processes if process.name == name)
        if used:
            notes.append(
                f"{name} ({role}) isn't Python, so it wasn't sampled. It used {used / total:.1%} of the CPU time."
            )
    return notes
