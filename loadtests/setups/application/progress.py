"""What is done now, for somebody who waits."""

from __future__ import annotations

from collections.abc import Callable

# Is told of each thing that takes its time, as it begins: ``loading the project``.
Doing = Callable[[str], None]


def silently(doing: str) -> None:
    """Where nobody waits."""
