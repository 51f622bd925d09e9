"""Define sweeps. A sweep runs one setup with every combination of its knobs' values."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import shlex
from typing import Any

from loadtests.errors import UserError, quoted
from loadtests.records.bounds import VAST, Variable

KNOB = re.compile(r"[A-Z][A-Z0-9_]*")
# 2w-4t means 2 workers × 4 threads; other knobs appear as KNOB=value
SHORT = {"WORKERS": "{}w", "THREADS": "{}t"}
WORDS = {"WORKERS": "worker", "THREADS": "thread"}
MAX_CELLS = 1_000
NOT_IN_A_LABEL = re.compile(r"[^A-Za-z0-9._+=-]+")


@dataclasses.dataclass(frozen=True)
class Sweep:
    """A setup, and the values of each knob (environment variable) in the study's order."""

    setup: str
    knobs: dict[Variable, tuple[str, ...]]

    @property
    def swept(self) -> dict[str, tuple[str, ...]]:
        """The knobs with more than one value."""
        return {knob: values for knob, values in self.knobs.items() if len(values) > 1}

    def label(self, env: dict[str, str]) -> str:
        """Return the label of the cell with these knobs, such as ``2w-4t`` or ``2w-BACKLOG=64``."""
        parts = [SHORT.get(knob, f"{knob}={{}}").format(env[knob]) for knob in self.swept]
        return NOT_IN_A_LABEL.sub("-", "-".join(parts))

    def words(self, env: dict[str, str]) -> str:
        """Describe the cell with these knobs, such as ``2 workers × 4 threads``."""
        parts = [
            f"{env[knob]} {WORDS[knob]}{'' if env[knob] == '1' else 's'}" if knob in WORDS else f"{knob}={env[knob]}"
            for knob in self.swept
        ]
        return " × ".join(parts)

    def cells(self) -> list[dict[str, Any]]:
        """Return a table with ``setup``, ``label`` and ``env`` for each cell, like a user's table under ``setups``.

        The first knob's values change slowest.
        """
        environments = (
            dict(zip(self.knobs, values, strict=True)) for values in itertools.product(*self.knobs.values())
        )
        return [{"setup": self.setup, "label": self.label(env), "env": env} for env in environments]


def parse(table: dict[str, Any], where: str) -> Sweep:
    """Read a study's table ``[sweep]``. ``where`` is the name of the file in messages.

    Raises:
        UserError: If the table isn't valid.
    """
    rest = dict(table)
    knobs = {key: _values(rest.pop(key), f"{where}: sweep.{key}") for key in list(rest) if KNOB.fullmatch(key)}
    setup = rest.pop("setup", None)
    if not isinstance(setup, str):
        raise UserError(f"{where}: sweep.setup: is {'missing' if setup is None else quoted(setup)}. Name a setup")
    for key in rest:
        raise UserError(f"{where}: sweep.{key}: is neither a knob, such as WORKERS, nor the key setup")
    cells = math.prod(map(len, knobs.values()))
    if cells > MAX_CELLS:
        raise UserError(f"{where}: sweep: {cells:,} combinations. At most {MAX_CELLS:,} are allowed")
    sweep = Sweep(setup, knobs)
    if not sweep.swept:
        raise UserError(f"{where}: sweep: no knob has several values. Add values, such as WORKERS = [1, 2]")
    return sweep


def environment(env: dict[str, str]) -> str:
    """Return the knobs as a line to paste into a shell, such as ``WORKERS=2 THREADS=4``."""
    return " ".join(f"{knob}={shlex.quote(value)}" for knob, value in env.items())


def _values(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise UserError(f"{where}: must be a list of values such as [1, 2, 4], not {quoted(value)}")
    texts = []
    for one in value:
        text = text_of(one)
        if text is None or isinstance(one, bool):
            raise UserError(f"{where}: {quoted(one)} is neither a number nor a string")
        texts.append(text)
    if len(set(texts)) < len(texts):
        raise UserError(f"{where}: contains a value more than once")
    return tuple(texts)


def text_of(value: object) -> str | None:
    """Return a knob's value as the text of an environment variable, or None if a knob can't have this value."""
    if isinstance(value, int) and abs(value) > VAST:
        return None
    return str(value) if isinstance(value, (bool, int, float, str)) else None
