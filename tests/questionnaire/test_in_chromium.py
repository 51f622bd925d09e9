"""Test the questionnaire in a real browser, using only the keyboard."""

import pytest

from tests.fixtures import chromium
from tests.fixtures.served import served

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.slow,
    pytest.mark.servers,
    pytest.mark.skipif(chromium.PROGRAM is None, reason="Chromium is not on PATH"),
]


def test_keyboard_completes_the_journey(own_database, tmp_path):
    with served("gunicorn-gthread", THREADS="4") as running, chromium.keyboard(tmp_path / "profile") as page:

        def shown():
            return page.ask("document.querySelector('main').dataset.page")

        def submit():
            page.tab_to("button[type=submit]")
            page.enter()

        page.open(f"{running.url}/questionnaire/launch/")
        assert shown() == "introduction"
        submit()
        page.tab_to("input#name")
        page.enter()
        assert page.ask("document.title").startswith("Error: ")
        page.tab_to("[role=alert] a")
        page.press("Enter")
        assert page.ask("document.activeElement.id") == "name"
        for name, text in (("name", "ada"), ("household", "3"), ("moved", "02292020")):
            assert shown() == name
            page.tab_to(f"input#{name}")
            page.type(text)
            page.enter() if name == "name" else submit()
        assert shown() == "work"
        page.tab_to("input[type=radio]")
        page.press(" ")
        submit()
        page.tab_to("input#employer")
        page.type("engines")
        page.enter()
        page.tab_to("input[value=train]")
        page.press(" ")
        submit()
        assert shown() == "summary"
        rows = "[...document.querySelectorAll('dd[data-answer]')].map((row) => [row.dataset.answer, row.innerText])"
        assert page.ask(f"Object.fromEntries({rows})") == {
            "name": "ada",
            "household": "3",
            "moved": "2020-02-29",
            "work": "Yes",
            "employer": "engines",
            "travel": "By train",
        }
        page.tab_to("a[href*='name/?change']")
        page.enter()
        assert page.ask("document.querySelector('input#name').value") == "ada"
        submit()
        submit()
        assert shown() == "thank-you"
