"""The values of knobs that are worth trying, from the number of the servers' cores."""

from __future__ import annotations

import re

from loadtests.errors import UserError
from loadtests.plan.sweep import Sweep
from loadtests.setups import Setup

THREADS = ("1", "2", "4", "8")
FINE = 4  # up to this number of workers every one is tried, from there on steps of about a third


def candidates(setup: Setup, cores: int) -> Sweep:
    """The sweep over the setup's WORKERS and THREADS, the simplest first. Raises UserError where it takes neither."""
    knobs = {"WORKERS": workers(cores), "THREADS": THREADS}
    taken = {knob: values for knob, values in knobs.items() if takes(setup, knob)}
    if not taken:
        raise UserError(f"{setup.name} takes neither WORKERS nor THREADS: there is nothing to advise on")
    return Sweep(setup.name, taken)


def takes(setup: Setup, knob: str) -> bool:
    """Whether the setup's file uses the knob."""
    lines = setup.file.read_text(encoding="utf-8").splitlines()
    return any(re.search(rf"%\(ENV_{knob}\)|\${{?{knob}\b", line) for line in lines if not line.startswith(";"))


def workers(cores: int) -> tuple[str, ...]:
    """From 1 to twice the cores and one more, which is where Gunicorn's documentation begins."""
    most = 2 * cores + 1
    found = [1]
    while found[-1] < most:
        found.append(min(most, max(found[-1] + 1, round(found[-1] * 4 / 3) if found[-1] >= FINE else 0)))
    return tuple(map(str, found))
