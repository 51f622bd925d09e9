"""Journeys: what users do in an application, step by step, as Locust runs them. A file a journey.

By itself a journey is a locustfile: ``locust -f loadtests/journeys/questionnaire.py --host http://127.0.0.1:8000``. In
tests of journeys injectors (``loadtests.journeys.injector``) run it, which count and time as the project's own
generator does; the table has the same figures (``exact_table``). Importing a journey imports
Locust, which patches the standard library; so nothing else here does."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
_NO_JOURNEYS = {"__init__", "base", "exact_table", "forms", "steps"}


def known() -> dict[str, Path]:
    """The journeys that come with the project: their files, by name."""
    return {file.stem: file for file in sorted(FOLDER.glob("*.py")) if file.stem not in _NO_JOURNEYS}
