"""What is done now, for somebody who waits."""

from __future__ import annotations

from collections.abc import Callable

# Is told of each thing that takes its time, as it begins: ``loading the project``.
Announce = Callable[[str], None]


def silent(doing: str) -> None:
    """Where nobody waits."""
