"""Define a step of a load curve."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class LoadStep:
    """A test as one step of a load curve.

    Args:
        value: The load as a number.
        axis: The name of the axis.
        short_label: The label of the load on the axis, such as ``250/s``.
        label: The name of the load in a sentence, such as ``250 requests/s``.
        comparison_key: A value that is the same for all steps of a curve.
    """

    value: float
    axis: str
    short_label: str
    label: str
    comparison_key: tuple[object, ...]
