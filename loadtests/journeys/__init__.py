"""Define journeys, which are the steps of a user in an application. Each journey is a file.

Injectors (``loadtests.journeys.injector``) run the journeys as Locust users. Importing a journey imports Locust, which
patches the standard library, so only the injectors import journeys.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
_NO_JOURNEYS = {"__init__", "base", "forms", "steps"}


def known() -> dict[str, Path]:
    """Return the files of the included journeys, by name."""
    return {file.stem: file for file in sorted(FOLDER.glob("*.py")) if file.stem not in _NO_JOURNEYS}
