"""Read the definition of a survey from a file in definitions/ and check it, without Django."""

import dataclasses
import datetime
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "definitions"
TYPES = ("text", "number", "date", "radio", "checkbox")
CHOICES = ("radio", "checkbox")
TODAY = "today"  # In the limit of a date, this word means the current day.
RESERVED = ("launch", "session", "introduction", "summary", "thank-you", "signed-out")  # Paths of other views.

Answer = str | list[str]
"""An answer in JSON: a text or, for checkboxes, a list of the selected values."""


class BadDefinition(Exception):
    """A definition that isn't valid, with the place and the reason."""


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
    """Load a definition from a file in definitions/.

    Raises:
        BadDefinition: If the file can't be read or isn't valid.
    """
    file = FOLDER / f"{name}.json"
    try:
        return parse(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError, BadDefinition) as error:
        raise BadDefinition(f"{file.name}: {error}") from error


def parse(table: dict[str, Any]) -> Definition:
    """Convert a JSON object to a definition.

    Raises:
        BadDefinition: If the definition isn't valid.
        KeyError: If a key is missing.
        TypeError: If a page has unknown or missing fields.
    """
    definition = Definition(table["title"], tuple(Page(**page) for page in table["pages"]))
    order = [page.id for page in definition.pages]
    if not order or len(set(order)) < len(order):
        raise BadDefinition("the definition must contain pages with different ids")
    for place, page in enumerate(definition.pages):
        if page.type not in TYPES:
            raise BadDefinition(f"{page.id}: type must be one of {', '.join(TYPES)}, not {page.type!r}")
        if page.id in RESERVED or not page.id.replace("-", "").isalnum():
            raise BadDefinition(
                f"{page.id}: the id must have only letters, digits and hyphens, and not be {' or '.join(RESERVED)}"
            )
        if bool(page.options) != (page.type in CHOICES):
            raise BadDefinition(f"{page.id}: must have options if, and only if, its type is {' or '.join(CHOICES)}")
        _require_forward(page, order[place + 1 :])
        _require_bounds(page)
    return definition


def _require_forward(page: Page, later: list[str]) -> None:
    """Check that routes lead only to later pages, because a route back could be a loop."""
    for answer, target in page.routes.items():
        if answer not in page.options or target not in later:
            raise BadDefinition(
                f"{page.id}: routes: {answer!r} to {target!r}: must lead from an option to a later page"
            )


def _require_bounds(page: Page) -> None:
    for bound in (page.least, page.most):
        if page.type == "number" and bound and not bound.isdecimal():
            raise BadDefinition(f"{page.id}: {bound!r} isn't a whole number")
        if page.type == "date" and bound not in ("", TODAY):
            datetime.date.fromisoformat(bound)
