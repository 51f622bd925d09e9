"""Determine the outcome of a request from a respondent's state, without Django.

The views only read and write the session.
"""

import dataclasses
import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from questionnaire import routing, validation
from questionnaire.definition import Answer, Definition, Page
from questionnaire.state import State

FIELD_TYPES = {"text": "text", "number": "text", "date": "date"}  # because type="number" reacts to the mouse wheel


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request of a respondent.

    ``given`` contains the values of the form. ``change`` means that the user returns to the summary if no answer is
    missing. ``reference`` identifies a submission.
    """

    post: bool
    page: str
    given: Mapping[str, Sequence[str]]
    change: bool
    today: datetime.date
    reference: str


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of a request: a template with its context, or a redirect to a step and its page.

    The view saves ``state`` unless it is None, and ends the session if ``over`` is True.
    """

    template: str = ""
    context: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    to: str = ""
    page: str = ""
    state: State | None = None
    over: bool = False


def take(step: str, definition: Definition, state: State, asked: Asked) -> Outcome | None:
    """Return the outcome of a request, or None if the page doesn't exist."""
    if step == "page" and definition.page(asked.page) is None:
        return None
    if state.reference and step != "thank-you":
        return Outcome(to="thank-you")
    if not state.begun and step != "introduction":
        return Outcome(to="introduction")
    return _STEPS[step, asked.post](definition, state, asked)


def _introduction(definition: Definition, state: State, asked: Asked) -> Outcome:
    return Outcome("introduction", {"title": definition.title, "count": len(definition.pages)})


def _begin(definition: Definition, state: State, asked: Asked) -> Outcome:
    return _go(routing.unanswered(definition, state.answers), dataclasses.replace(state, begun=True))


def _question(definition: Definition, state: State, asked: Asked) -> Outcome:
    page = _reached(definition, state, asked.page)
    if page is None:
        return _go(routing.unanswered(definition, state.answers))
    return Outcome("page", _form(definition, state, page, state.answers.get(page.id, ""), asked))


def _answer(definition: Definition, state: State, asked: Asked) -> Outcome:
    page = _reached(definition, state, asked.page)
    if page is None:
        return _go(routing.unanswered(definition, state.answers))
    given = asked.given.get(page.id, ())
    try:
        answer = validation.answer(page, given, asked.today)
    except validation.Invalid as error:
        said = list(given) if page.type == "checkbox" else "".join(given[-1:])
        return Outcome("page", _form(definition, state, page, said, asked, str(error)))
    answers = {**state.answers, page.id: answer}
    onward = routing.unanswered(definition, answers) if asked.change else routing.following(definition, page, answer)
    return _go(onward, dataclasses.replace(state, answers=answers))


def _summary(definition: Definition, state: State, asked: Asked) -> Outcome:
    if (page := routing.unanswered(definition, state.answers)) is not None:
        return _go(page)
    pages = routing.way(definition, state.answers)
    rows = [{"page": page, "answer": shown(page, state.answers[page.id])} for page in pages]
    return Outcome("summary", {"title": definition.title, "rows": rows})


def _submit(definition: Definition, state: State, asked: Asked) -> Outcome:
    if (page := routing.unanswered(definition, state.answers)) is not None:
        return _go(page)
    # The submission omits the answers to pages that a later answer made unnecessary.
    answers = {page.id: state.answers[page.id] for page in routing.way(definition, state.answers)}
    return Outcome(to="thank-you", state=dataclasses.replace(state, answers=answers, reference=asked.reference))


def _thank_you(definition: Definition, state: State, asked: Asked) -> Outcome:
    if not state.reference:
        return Outcome(to="summary")
    return Outcome("thank-you", {"title": definition.title, "reference": state.reference}, over=True)


_STEPS: Mapping[tuple[str, bool], Callable[[Definition, State, Asked], Outcome]] = {
    ("introduction", False): _introduction,
    ("introduction", True): _begin,
    ("page", False): _question,
    ("page", True): _answer,
    ("summary", False): _summary,
    ("summary", True): _submit,
    ("thank-you", False): _thank_you,
}


def _reached(definition: Definition, state: State, name: str) -> Page | None:
    """Return the page with this name if the answers so far lead to it, otherwise None."""
    return next((page for page in routing.way(definition, state.answers) if page.id == name), None)


def _go(page: Page | None, state: State | None = None) -> Outcome:
    """Redirect to the page, or to the summary if there is no page."""
    return Outcome(to="page", page=page.id, state=state) if page else Outcome(to="summary", state=state)


def _form(
    definition: Definition, state: State, page: Page, answer: Answer, asked: Asked, error: str = ""
) -> dict[str, Any]:
    previous = routing.before(definition, state.answers, page)
    return {
        "title": definition.title,
        "page": page,
        "field_type": FIELD_TYPES.get(page.type, page.type),
        "answer": answer,
        "options": [(value, label, value in answer) for value, label in page.options.items()]
        if page.type == "checkbox"
        else [(value, label, value == answer) for value, label in page.options.items()],
        "error": error,
        "back": "summary" if asked.change else previous.id if previous else "introduction",
        "back_is_page": bool(previous) and not asked.change,
    }


def shown(page: Page, answer: Answer) -> str:
    """Return an answer for the summary: the labels of the options, or the text."""
    if isinstance(answer, list):
        return ", ".join(page.options[value] for value in answer)
    return page.options.get(answer, answer)
