"""Read the definition of a survey from a file in definitions/, without Django."""

import dataclasses
import functools
import json
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent / "definitions"
TODAY = "today"  # In the limit of a date, this word means the current day.

Answer = str | list[str]
"""An answer in JSON: a text or, for checkboxes, a list of the selected values."""


@dataclasses.dataclass(frozen=True)
class Page:
    """A page with one question.

    ``options`` contains the label of each value. ``routes`` contains the next page for an answer, if that page isn't
    the next page in the file. ``least`` and ``most`` limit a number or a date. ``longest`` limits the characters of a
    text.
    """

    id: str
    type: str
    question: str
    hint: str = ""
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    routes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    least: str = ""
    most: str = ""
    longest: int = 60


@dataclasses.dataclass(frozen=True)
class Definition:
    """A survey with its title and its pages in order."""

    title: str
    pages: tuple[Page, ...]

    def page(self, id: str) -> Page | None:
        """Return the page with this name, or None."""
        return next((page for page in self.pages if page.id == id), None)


@functools.cache
def load(name: str) -> Definition:
    """Load a definition from a file in definitions/."""
    table = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return Definition(table["title"], tuple(Page(**page) for page in table["pages"]))
