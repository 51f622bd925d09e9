"""Determine the order of the pages from the answers, without Django."""

from collections.abc import Iterator, Mapping

from questionnaire.definition import Answer, Definition, Page


def following(definition: Definition, page: Page, answer: Answer) -> Page | None:
    """Return the page that follows this page with this answer, or None after the last page."""
    if isinstance(answer, str) and answer in page.routes:
        return definition.page(page.routes[answer])
    place = definition.pages.index(page) + 1
    return definition.pages[place] if place < len(definition.pages) else None


def way(definition: Definition, answers: Mapping[str, Answer]) -> Iterator[Page]:
    """Yield the pages in the order that the answers determine, up to the first page without an answer."""
    page: Page | None = definition.pages[0]
    while page is not None:
        yield page
        if page.id not in answers:
            return
        page = following(definition, page, answers[page.id])


def unanswered(definition: Definition, answers: Mapping[str, Answer]) -> Page | None:
    """Return the first page without an answer, or None."""
    *_, last = way(definition, answers)
    return last if last.id not in answers else None


def before(definition: Definition, answers: Mapping[str, Answer], page: Page) -> Page | None:
    """Return the page before this page, or None for the first page."""
    previous = None
    for one in way(definition, answers):
        if one.id == page.id:
            return previous
        previous = one
    return None
