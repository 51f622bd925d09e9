"""A test as one of several steps of load."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class LoadStep:
    """A test as one step of a load curve.

    Args:
        value: The load on the axis.
        axis: The name of the axis.
        short_label: The load on the axis, such as ``250/s``.
        label: The load in a text, such as ``250 requests/s``.
        comparison_key: A value that is the same for all steps of a curve.
    """

    value: float
    axis: str
    short_label: str
    label: str
    comparison_key: tuple[object, ...]
