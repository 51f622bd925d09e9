"""A test as one of several steps of load."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class LoadStep:
    """A test as one step of a load curve: its load (``value``) on an axis, and that in words, ``250/s`` and
    ``250 requests/s``. Steps of a curve have the same ``comparison_key``."""

    value: float
    axis: str
    short_label: str
    label: str
    comparison_key: tuple[object, ...]
