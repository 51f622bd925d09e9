"""Report progress to a waiting user."""

from __future__ import annotations

from collections.abc import Callable

# Called at the start of each slow step, with a text such as ``loading the project``.
Announce = Callable[[str], None]


def silent(doing: str) -> None:
    """Ignore the progress, for callers without a waiting user."""
