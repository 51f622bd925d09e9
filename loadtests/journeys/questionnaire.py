"""Fill in the sample project's questionnaire, with a unique name and employer.

The summary at the end must show exactly these answers. The summary shows other answers if answers were lost, or if
sessions were mixed up.
"""

from __future__ import annotations

import dataclasses
import datetime
import html
import itertools
import random
import re
from collections.abc import Mapping

from loadtests.journeys.base import Fields, Journey
from loadtests.journeys.forms import leads_to, tokens
from loadtests.journeys.steps import Answered, BrokenOff

PAGE = re.compile(r'<main\b[^>]*\bdata-page="([^"]*)"')
SHOWN = re.compile(r'<dd data-answer="([^"]*)">(.*?)</dd>', re.DOTALL)
TRAVEL = {"foot": "On foot", "bicycle": "By bicycle", "bus": "By bus or tram", "train": "By train", "car": "By car"}
FIRST_DAY = datetime.date(1980, 1, 1)
DAYS = 16_000  # the number of possible dates on which a user moved


@dataclasses.dataclass(frozen=True)
class Given:
    """A user's answer to one page: the fields to send, and the text in the summary."""

    fields: Fields
    shown: str


class Questionnaire(Journey):
    """Log in with a new token, answer page after page, read the summary, submit, and get the final page.

    Three in four users have an employer, and answer one more page.
    """

    path = "/questionnaire/"

    def walk(self) -> None:
        self.signed_out = f"{self.path}signed-out/"
        answers = invented(self.chance)
        launched = self.get(f"{self.path}launch/", "launch", status=302)
        signed_in = self.get(launched.location, "session", status=302)
        page = self.get(signed_in.location, "introduction", check=lambda answer: _another(answer, "introduction"))
        for name, following in itertools.pairwise(["introduction", *answers, "summary", "thank-you"]):
            self.think()
            page = self._turn(page, name, answers, following)

    def _turn(self, page: Answered, name: str, answers: Mapping[str, Given], following: str) -> Answered:
        """Send the current page's form, and open the next page."""
        given = answers[name].fields if name in answers else {}
        check = leads_to(f"{self.path}{following}/")
        sent = self.post(f"{self.path}{name}/", name, {**tokens(page), **given}, check=check)
        return self.get(sent.location, following, check=lambda answer: _found_in(answer, following, answers))


def invented(chance: random.Random) -> dict[str, Given]:
    """Create one user's answers by page, in the order of the pages. The names are unique."""
    mark = f"{chance.getrandbits(64):016x}"
    moved = (FIRST_DAY + datetime.timedelta(days=chance.randrange(DAYS))).isoformat()
    travel = sorted(chance.sample(sorted(TRAVEL), chance.randint(1, 3)), key=list(TRAVEL).index)
    answers = {
        "name": _text("name", f"Zoë O'Hara {mark}"),
        "household": _text("household", str(chance.randint(1, 12))),
        "moved": _text("moved", moved),
        "work": Given({"work": "yes"}, "Yes"),
        "employer": _text("employer", f"Miller & Daughters {mark}"),
        "travel": Given({"travel": travel}, ", ".join(TRAVEL[value] for value in travel)),
    }
    if chance.random() < 0.25:
        answers["work"] = Given({"work": "no"}, "No")
        del answers["employer"]
    return answers


def _text(field: str, text: str) -> Given:
    return Given({field: text}, text)


def _another(answer: Answered, page: str) -> BrokenOff | None:
    """Return a failure if the answer isn't the expected page."""
    found = PAGE.search(answer.text)
    if found and found[1] == page:
        return None
    return BrokenOff("wrong-body", f"the page {found[1]!r} instead of {page!r}" if found else f"not the page {page!r}")


def _found_in(answer: Answered, page: str, answers: Mapping[str, Given]) -> BrokenOff | None:
    """Return a failure if the answer isn't the expected page, or is a summary with wrong answers."""
    if (failure := _another(answer, page)) is not None or page != "summary":
        return failure
    shown = {name: html.unescape(text).strip() for name, text in SHOWN.findall(answer.text)}
    given = {name: one.shown for name, one in answers.items()}
    wrong = sorted(name for name in {*shown, *given} if shown.get(name) != given.get(name))
    if not wrong:
        return None
    first = f"{wrong[0]} is {shown.get(wrong[0])!r} instead of {given.get(wrong[0])!r}"
    return BrokenOff("mixed-up", f"{len(wrong)} of {len(given)} answers differ from the entered answers: {first}")
