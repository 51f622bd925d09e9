"""How a user signs in before the journey.

With a form these are the journey's first two steps, which count and have a route of their own: checking a password
takes a server long, on purpose. With a cookie there is a session already, which all users share."""

from __future__ import annotations

import dataclasses
from http.cookiejar import Cookie, CookieJar
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from loadtests.journeys.forms import AnyPage, LoginForm, login_form
from loadtests.journeys.steps import BrokenOff

if TYPE_CHECKING:
    from loadtests.journeys.base import Journey

ROUTE = "sign-in"


@dataclasses.dataclass(frozen=True)
class Credentials:
    """The path of the page with the form, a user's name, and the password; or, where the path is empty, a cookie,
    ``sessionid=...; csrftoken=...``."""

    login: str
    user: str
    secret: str = dataclasses.field(repr=False)


def sign_in(user: Journey, who: Credentials) -> None:
    """Signs a user in. Raises BrokenOff where that is refused, and Left."""
    origin = user.host or ""
    if not who.login:
        keep(user.client.cookiejar, who.secret, origin)
        return
    page = _FormOfPage(origin, who.login)
    user.get(who.login, ROUTE, check=page)
    user.post(page.form.action, ROUTE, page.form.filled(who.user, who.secret))
    user.signed_out = urlsplit(who.login).path  # a redirect there from now on is a lost session


class _FormOfPage:
    """A check of the page to sign in on, which keeps its form."""

    def __init__(self, origin: str, path: str) -> None:
        self.origin, self.path = origin, path
        self.form = LoginForm("", {}, "", "")

    def __call__(self, page: AnyPage) -> BrokenOff | None:
        try:
            self.form = login_form(page.text, self.origin, self.path)
        except ValueError as error:
            return BrokenOff("wrong-body", f"the page to sign in on: {error}")
        return None


def keep(jar: CookieJar, text: str, origin: str) -> None:
    """Puts the cookies of a header's text into a jar, for one origin."""
    domain = urlsplit(origin).hostname or ""
    for part in text.split(";"):
        name, _, value = part.strip().partition("=")
        if name:
            jar.set_cookie(
                Cookie(0, name, value, None, False, domain, False, False, "/", True, False, None, True, None, None, {})
            )
