"""Define journeys: the steps of a user in an application. Each journey is a file.

Injectors (``loadtests.journeys.injector``) run them as Locust users in tests of journeys. Importing a journey imports
Locust, which patches the standard library, so nothing else in this package imports one.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
_NO_JOURNEYS = {"__init__", "base", "forms", "steps"}


def known() -> dict[str, Path]:
    """The journeys that come with the project: their files, by name."""
    return {file.stem: file for file in sorted(FOLDER.glob("*.py")) if file.stem not in _NO_JOURNEYS}
