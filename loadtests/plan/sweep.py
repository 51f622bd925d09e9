"""Define sweeps. A sweep runs one setup with every combination of its knobs' values."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from loadtests.errors import UserError
from loadtests.records.bounds import VAST, Variable

# The value of a knob, which becomes the text of an environment variable.
Value = Annotated[
    bool | Annotated[int, Meta(ge=-VAST, le=VAST)] | float | Annotated[str, Meta(pattern=r"^[^\0]*\Z")],
    Meta(extra={"allowed": "a number or a text"}),
]
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


def parse(table: Mapping[str, str | list[Value]], where: str) -> Sweep:
    """Read a study's table ``[sweep]``. ``where`` is the name of the file in messages.

    Raises:
        UserError: If the table isn't valid.
    """
    setup, knobs = "", {}
    for key, values in table.items():
        if key == "setup" and isinstance(values, str):
            setup = values
        elif KNOB.fullmatch(key) and isinstance(values, list) and 0 < len(values) == len({*map(str, values)}):
            knobs[key] = tuple(map(str, values))
        else:
            raise UserError(f"{where}: sweep.{key}: must be a knob with several values, as in WORKERS = [1, 2]")
    if not setup:
        raise UserError(f"{where}: sweep.setup: is missing. Name a setup")
    cells = math.prod(map(len, knobs.values()))
    if not 1 < cells <= MAX_CELLS:
        raise UserError(f"{where}: sweep: must have 2 to {MAX_CELLS:,} combinations of values, not {cells:,}")
    return Sweep(setup, knobs)


def environment(env: dict[str, str]) -> str:
    """Return the knobs as a line to paste into a shell, such as ``WORKERS=2 THREADS=4``."""
    return " ".join(f"{knob}={shlex.quote(value)}" for knob, value in env.items())
