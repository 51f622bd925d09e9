"""Validate answers, without Django."""

import datetime
from collections.abc import Sequence

from questionnaire.definition import TODAY, Answer, Page

MAX_DIGITS = 9


class Invalid(Exception):
    """An answer that is not valid, with an explanation for the respondent."""


def answer(page: Page, given: Sequence[str], today: datetime.date) -> Answer:
    """Return the answer in the values of a page's field.

    Raises:
        Invalid: If the answer is not valid.
    """
    return _READ[page.type](page, given, today)


def _text(page: Page, given: Sequence[str], today: datetime.date) -> str:
    text = " ".join(_one(given).split())
    if not text:
        raise Invalid("Enter an answer.")
    if len(text) > page.longest:
        raise Invalid(f"The answer must have {page.longest} characters or fewer.")
    if not text.isprintable():
        raise Invalid("The answer contains characters that cannot be displayed.")
    return text


def _number(page: Page, given: Sequence[str], today: datetime.date) -> str:
    text = _one(given).strip()
    if not text:
        raise Invalid("Enter a number.")
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
        raise Invalid("Enter a whole number, such as 3.")
    number = int(text)
    if page.least and number < int(page.least):
        raise Invalid(f"The number must be {page.least} or more.")
    if page.most and number > int(page.most):
        raise Invalid(f"The number must be {page.most} or less.")
    return str(number)


def _date(page: Page, given: Sequence[str], today: datetime.date) -> str:
    text = _one(given).strip()
    if not text:
        raise Invalid("Enter a date.")
    try:
        day = datetime.datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        raise Invalid("Enter a date of the calendar, such as 2020-03-31.") from None
    if page.least and day < _bound(page.least, today):
        raise Invalid(f"The date must be {_bound(page.least, today)} or later.")
    if page.most and day > _bound(page.most, today):
        raise Invalid(f"The date must be {_bound(page.most, today)} or earlier.")
    return day.isoformat()


def _bound(bound: str, today: datetime.date) -> datetime.date:
    return today if bound == TODAY else datetime.date.fromisoformat(bound)


def _radio(page: Page, given: Sequence[str], today: datetime.date) -> str:
    value = _one(given)
    if value not in page.options:
        raise Invalid("Select one of the answers.")
    return value


def _checkbox(page: Page, given: Sequence[str], today: datetime.date) -> list[str]:
    if not given or not set(given) <= set(page.options):
        raise Invalid("Select at least one of the answers.")
    return [value for value in page.options if value in given]


def _one(given: Sequence[str]) -> str:
    return given[-1] if given else ""


_READ = {"text": _text, "number": _number, "date": _date, "radio": _radio, "checkbox": _checkbox}
