"""Progress for a person who waits."""

from __future__ import annotations

from collections.abc import Callable

# Called with each slow step as it begins: ``loading the project``.
Announce = Callable[[str], None]


def silent(doing: str) -> None:
    """For callers without a reader."""
