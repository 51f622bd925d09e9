"""Test how forms are read from pages, and that passwords aren't sent to unsuitable forms."""

import dataclasses

import pytest

from loadtests.journeys.forms import LoginForm, leads_to, login_form, tokens

HOME, HERE = "http://127.0.0.1:8000", "/accounts/login/"
TOKEN = {"csrfmiddlewaretoken": "a&b"}


@dataclasses.dataclass
class Shown:
    text: str = ""
    location: str = ""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<form><input type="hidden" name="csrfmiddlewaretoken" value="a&amp;b"></form>', TOKEN),
        ("<input id=csrf_token name=csrfmiddlewaretoken type=hidden value=a&amp;b>", TOKEN),
        ('<input name="q"><p>csrf</p><input name="csrfmiddlewaretoken" value="a&b"/>', TOKEN),
        ('<input name="q" value="csrf">', {}),
    ],
)
def test_csrf_token_is_found(text, found):
    assert tokens(Shown(text)) == found


def test_redirect_returns_its_parameters():
    ids, route = {}, "/orders/{order}/{order}/lines/{line}/?a=b"
    check = leads_to(route, ids)
    assert check(Shown(location="/orders/7/7/lines/x-1/?a=b")) is None
    assert ids == {"order": "7", "line": "x-1"}
    failure = check(Shown(location="/accounts/login/?next=/orders/"))
    assert (failure.kind, failure.text) == ("status", f"the answer redirects to /accounts/login/ instead of {route}")
    assert check(Shown(location="/orders/7/8/lines/x/?a=b")) is not None
    assert "nowhere" in check(Shown()).text


def form(inputs='<input name="username"><input type="password" name="password">', action="", method="post"):
    return f'<form><input name="q"></form><form action="{action}" method="{method}">{inputs}</form><input name="z">'


def test_login_form_is_found():
    text = form(
        '<input type="hidden" name="csrfmiddlewaretoken" value="t"><input type="hidden" name="next" value="/a/">'
        '<input type="email" name="mail"><input name="password" type="PASSWORD"><input type="submit" value="Go">'
    )
    hidden = {"csrfmiddlewaretoken": "t", "next": "/a/"}
    found = login_form(text, HOME, HERE)
    assert found == LoginForm(HERE, hidden, "mail", "password")
    assert found.filled("ada", "secret") == {**hidden, "mail": "ada", "password": "secret"}


@pytest.mark.parametrize(
    ("buttons", "sent"),
    [
        ('<button name="login" value="Log In">', {"login": "Log In"}),
        ('<input type="submit" name="login" value="Go"><button name="register">', {"login": "Go"}),
        ('<button name="register" disabled><button name="login">', {"login": ""}),
        ('<button>Log in</button><button name="register">', {}),
    ],
)
def test_first_submit_button_is_sent(buttons, sent):
    text = form(f'<input name="u"><input type="password" name="p">{buttons}')
    assert login_form(text, HOME, HERE).filled("ada", "secret") == {**sent, "u": "ada", "p": "secret"}


@pytest.mark.parametrize(
    ("action", "where"),
    [("", HERE), ("?next=/a/", f"{HERE}?next=/a/"), ("/in/", "/in/"), ("do/", f"{HERE}do/"), (f"{HOME}/in/", "/in/")],
)
def test_login_form_stays_on_host(action, where):
    assert login_form(form(action=action), HOME, HERE).action == where


ELSEWHERE = "^the form would send the password to another site, "


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (form(action="https://evil.example/in/"), ELSEWHERE),
        (form(action="/\t/evil.example/in/"), ELSEWHERE),
        (form(action="http://127.0.0.1:8001/in/"), ELSEWHERE),
        (form(action="http://127.0.0.1:8000@evil.example/"), ELSEWHERE),
        (form(action="javascript:go()"), ELSEWHERE),
        ('<input type="password" name="p">', "the page has no form with a password field"),
        (form(method="get"), "would send the password in the URL"),
        (form('<input name="u"><input type="password">'), "no user name field next to the pass"),
    ],
)
def test_unsuitable_login_page_is_refused(text, says):
    with pytest.raises(ValueError, match=says):
        login_form(text, HOME, HERE)
