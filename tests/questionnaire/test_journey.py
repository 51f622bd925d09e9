"""Test the questionnaire as a respondent uses it."""

import asyncio
import datetime
import re

import pytest
from django.contrib.sessions.models import Session
from django.core.signing import TimestampSigner
from django.test import AsyncClient
from questionnaire import tokens

SHOWN = {
    "name": "Ada",
    "household": "3",
    "moved": "2020-02-29",
    "work": "Yes",
    "employer": "Analytical Engines",
    "travel": "On foot, By train",
}


def test_whole_journey_is_completed(browser, answers):
    browser.launch()
    assert browser.page == "introduction"
    browser.submit()
    for page, answer in answers.items():
        assert browser.page == page
        assert page in browser.form.labelled <= browser.form.ids
        browser.submit(**{page: answer})
    assert (browser.page, browser.summary) == ("summary", SHOWN)
    assert browser.response.headers["Cache-Control"] == "no-store"
    browser.submit()
    assert browser.page == "thank-you"
    assert re.search(r"<strong data-reference>[0-9A-F]{8}</strong>", browser.text)
    assert browser.client.cookies["sessionid"]["max-age"] == 0
    assert (browser.get("summary/").page, browser.response.status_code) == ("signed-out", 401)


def test_submitted_answers_are_final(browser, answers):
    browser.through(**answers)
    token = browser.form.fields["csrfmiddlewaretoken"]
    for page, answer in (("summary", {}), ("name", {"name": "Eve"})):
        response = browser.client.post(f"{browser.base}{page}/", {"csrfmiddlewaretoken": token, **answer})
        assert response["Location"] == browser.base + "thank-you/"


@pytest.mark.parametrize(
    ("page", "answer", "says"),
    [
        ("name", "", "Enter an answer."),
        ("name", "x" * 61, "60 characters or fewer"),
        ("name", "a\u202eb", "cannot be displayed"),
        ("household", "", "Enter a number."),
        ("household", "\u0663", "Enter a whole number"),
        ("household", "9" * 5000, "Enter a whole number"),
        ("household", "0", "must be 1 or more"),
        ("moved", "2021-02-29", "Enter a date of the calendar"),
        ("moved", "9999-01-01", "or earlier"),
        ("work", "maybe", "Select one of the answers."),
        ("travel", ["foot", "rocket"], "Select at least one of the answers."),
    ],
)
def test_invalid_answer_explains_allowed_values(browser, answers, page, answer, says):
    before = dict(list(answers.items())[: list(answers).index(page)])
    browser.through(**before).submit(**{page: answer})
    assert (browser.response.status_code, browser.page) == (200, page)
    assert says in browser.text
    assert "<title>Error: " in browser.text
    assert f'<a href="#{page}">' in browser.text
    assert page in browser.form.ids
    if page == "household":
        assert browser.form.fields[page] == answer
    assert not browser.get(f"{page}/").form.fields[page]
    assert browser.submit(**{page: answers[page]}).page != page


def test_markup_in_answer_is_escaped(browser, answers):
    answers["name"] = "<b>Ada & Co"
    assert browser.through(**answers).summary["name"] == "&lt;b&gt;Ada &amp; Co"


def test_change_returns_to_the_summary(browser, answers):
    browser.through(**answers)
    for page in answers:
        assert f'<a href="{browser.base}{page}/?change=1"' in browser.text
    browser.get("travel/?change=1")
    assert browser.form.fields["travel"] == ["foot", "train"]
    assert f'<a href="{browser.base}summary/">Back</a>' in browser.text
    browser.submit(travel=["bus"])
    assert (browser.page, browser.summary) == ("summary", {**SHOWN, "travel": "By bus or tram"})


def test_answers_determine_the_required_pages(browser, answers):
    before = {page: answers[page] for page in ("name", "household", "moved")}
    browser.through(**before, work="no", travel=["foot"])
    assert (browser.page, "employer" in browser.summary) == ("summary", False)
    assert browser.get("employer/").page == "summary"
    assert browser.get("work/?change=1").submit(work="yes").page == "employer"
    assert browser.get("summary/").page == "employer"
    browser.submit(employer="Analytical Engines")
    browser.submit(travel=["foot"])
    assert browser.summary["employer"] == "Analytical Engines"
    browser.get("work/?change=1").submit(work="no")
    assert (browser.page, "employer" in browser.summary) == ("summary", False)


def test_pages_cannot_be_skipped(browser):
    browser.launch()
    assert browser.get("name/").page == "introduction"
    browser.submit().submit(name="Ada")
    for path in ("travel/", "summary/", "thank-you/"):
        assert browser.get(path).page == "household"
    assert browser.get("colour/").response.status_code == 404


@pytest.mark.parametrize("path", ["introduction/", "name/", "summary/", "thank-you/"])
def test_missing_session_redirects_to_start(browser, path):
    for cookie in (None, "a" * 32):
        if cookie is not None:
            browser.client.cookies["sessionid"] = cookie
        response = browser.client.get(browser.base + path)
        assert (response.status_code, response["Location"]) == (302, browser.base + "signed-out/")
        browser.get(path)
        assert (browser.response.status_code, browser.page) == (401, "signed-out")
        assert f'href="{browser.base}launch/"' in browser.text


def test_token_works_only_once(browser, another_browser):
    path = browser.client.get(browser.base + "launch/")["Location"].removeprefix(browser.base)
    assert browser.get(path).page == "introduction"
    browser.submit()
    before = Session.objects.count()
    for one in (another_browser, browser):
        one.get(path)
        assert (one.response.status_code, one.page) == (401, "signed-out")
        assert "used already" in one.text
    assert Session.objects.count() == before
    assert browser.get("name/").page == "name"


def test_used_token_stays_used(browser):
    """A user can read a token's id. A session cookie with this id must not lead to the record of the token's use."""
    token = tokens.issue("Somebody")
    for status in (302, 401):
        browser.client.cookies["sessionid"] = f"used{tokens.read(token).id}"
        assert browser.client.get(f"{browser.base}session?token={token}").status_code == status


def test_a_token_expires(browser, monkeypatch):
    old = datetime.datetime.now().timestamp() - tokens.GOOD_FOR_S - 1
    with monkeypatch.context() as patch:
        patch.setattr("django.core.signing.time.time", lambda: old)
        token = tokens.issue("Somebody")
    browser.get(f"session?token={token}")
    assert browser.response.status_code == 401
    assert "expired: it was valid for 5 minutes" in browser.text


def test_a_forged_token_is_refused(browser):
    token = tokens.issue("Somebody")
    forged = TimestampSigner(key="another", salt="questionnaire.tokens").sign_object({"respondent": "Eve", "id": "1"})
    for wrong in ("", "x", token[:-1] + ("A" if token[-1] != "A" else "B"), token + "%0A", forged):
        browser.get(f"session?token={wrong}")
        assert browser.response.status_code == 401
        assert "signature is wrong" in browser.text


def test_second_login_creates_new_session(browser, another_browser, answers):
    another_browser.through(**{**answers, "name": "Grace"})
    browser.through(name="Ada")
    assert another_browser.get("summary/").summary["name"] == "Grace"
    before = browser.client.cookies["sessionid"].value
    browser.launch()
    assert browser.client.cookies["sessionid"].value != before
    assert browser.submit().page == "name"
    assert browser.form.fields["name"] == ""


def test_submission_signs_out_other_tabs(browser, another_browser, answers):
    browser.through(**answers)
    another_browser.client.cookies = type(browser.client.cookies)(browser.client.cookies)
    another_browser.get("name/")
    browser.submit()
    another_browser.submit(name="Grace")
    assert another_browser.page == "signed-out"


def test_journey_works_over_asgi(database, answers):
    """Under ASGI, the synchronous views run in threads."""

    async def go():
        client = AsyncClient()

        async def follow(response):
            while response.status_code == 302:
                response = await client.get(response["Location"])
            return re.search('data-page="([^"]+)"', response.content.decode())[1]

        assert await follow(await client.get("/questionnaire/launch/")) == "introduction"
        shown = await follow(await client.post("/questionnaire/introduction/"))
        for page, answer in answers.items():
            assert shown == page
            shown = await follow(await client.post(f"/questionnaire/{page}/", {page: answer}))
        assert shown == "summary"
        assert await follow(await client.post("/questionnaire/summary/")) == "thank-you"

    asyncio.run(go())
