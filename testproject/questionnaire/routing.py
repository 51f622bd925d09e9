"""The order of the pages, by the answers. No Django in here."""

from collections.abc import Iterator, Mapping

from questionnaire.definition import Answer, Definition, Page


def following(definition: Definition, page: Page, answer: Answer) -> Page | None:
    """The page after this one with this answer; None after the last."""
    if isinstance(answer, str) and answer in page.routes:
        return definition.page(page.routes[answer])
    place = definition.pages.index(page) + 1
    return definition.pages[place] if place < len(definition.pages) else None


def way(definition: Definition, answers: Mapping[str, Answer]) -> Iterator[Page]:
    """The pages in the order of the answers, up to the first without one."""
    page: Page | None = definition.pages[0]
    while page is not None:
        yield page
        if page.id not in answers:
            return
        page = following(definition, page, answers[page.id])


def unanswered(definition: Definition, answers: Mapping[str, Answer]) -> Page | None:
    """The first page without an answer; None where all have one."""
    *_, last = way(definition, answers)
    return last if last.id not in answers else None


def before(definition: Definition, answers: Mapping[str, Answer], page: Page) -> Page | None:
    """The page before this one; None for the first."""
    previous = None
    for one in way(definition, answers):
        if one.id == page.id:
            return previous
        previous = one
    return None
