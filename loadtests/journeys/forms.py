"""Reads the forms of a page, their tokens and the form to sign in with, and signs users in. It does not import Locust.

With a form the journey begins with two steps, which count and have a route of their own: checking a password takes a
server long, on purpose. With a cookie there is a session already, which all users share."""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from http.cookiejar import Cookie, CookieJar
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin, urlsplit

from loadtests.journeys.steps import BrokenOff

if TYPE_CHECKING:
    from loadtests.journeys.base import Journey

ROUTE = "sign-in"
_TOKEN = re.compile(r"<input\b[^>]*\b(?:csrf|xsrf)[^>]*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_HOLE = re.compile(r"\{(\w+)\}")
TYPED = ("", "text", "email", "tel")  # the types of a field that takes a user's name


class AnyPage(Protocol):
    """An answer's text and redirect (``loadtests.journeys.base.Answered``)."""

    @property
    def text(self) -> str: ...
    @property
    def location(self) -> str: ...


def tokens(page: AnyPage) -> dict[str, str]:
    """The first field of a page against forged requests (``csrfmiddlewaretoken``), if it has one."""
    for found in _TOKEN.finditer(page.text):
        given = {name.lower(): html.unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(found[0])}
        if re.search("csrf|xsrf", given.get("name", ""), re.IGNORECASE):
            return {given["name"]: given.get("value", "")}
    return {}


def leads_to(route: str, ids: dict[str, str] | None = None) -> Callable[[AnyPage], BrokenOff | None]:
    """A check that an answer redirects to a route. The parts of the path for names in braces, ``/orders/{id}/``, are
    put into ``ids``."""
    parts, names = [], set()
    for place, part in enumerate(_HOLE.split(route)):
        if place % 2:
            parts.append(f"(?P={part})" if part in names else f"(?P<{part}>[^/?#]+)")
            names.add(part)
        else:
            parts.append(re.escape(part))
    pattern = re.compile("".join(parts))

    def check(answer: AnyPage) -> BrokenOff | None:
        match = pattern.fullmatch(answer.location)
        if match is None:
            where = answer.location.partition("?")[0] or "nowhere"
            return BrokenOff("status", f"it leads to {where} instead of {route}")
        if ids is not None:
            ids.update(match.groupdict())
        return None

    return check


@dataclasses.dataclass(frozen=True)
class LoginForm:
    """A form to sign in with: its target path, its hidden fields, and the names of the two others."""

    action: str
    hidden: Mapping[str, str]
    user: str
    password: str

    def filled(self, user: str, password: str) -> dict[str, str]:
        """The fields to send."""
        return {**self.hidden, self.user: user, self.password: password}


def login_form(text: str, origin: str, path: str) -> LoginForm:
    """The form with a password of the page at ``path`` of ``origin`` (``http://127.0.0.1:8000``), which must be its
    target as well. Raises ValueError: what is wrong with the page."""
    parser = _Forms()
    parser.feed(text)
    found = next((form for form in parser.forms if any(kind == "password" for _, kind, _ in form.inputs)), None)
    if found is None:
        raise ValueError("it has no form with a password")
    if found.method != "post":
        raise ValueError("its form would send the password in the URL: its method is not post")
    target, home = urlsplit(urljoin(f"{origin}{path}", found.action)), urlsplit(origin)
    if (target.scheme, target.netloc) != (home.scheme, home.netloc) or not target.path.startswith("/"):
        raise ValueError(f"its form would send the password elsewhere, to {target.scheme}://{target.hostname or ''}")
    names = [(name, kind) for name, kind, _ in found.inputs if name]
    password = next((name for name, kind in names if kind == "password"), "")
    user = next((name for name, kind in names if kind in TYPED), "")
    if not user or not password:
        raise ValueError("its form has no field for a user's name next to the one for the password")
    hidden = {name: value for name, kind, value in found.inputs if name and kind == "hidden"}
    return LoginForm(target.path + (f"?{target.query}" if target.query else ""), hidden, user, password)


@dataclasses.dataclass
class _Form:
    action: str
    method: str
    inputs: list[tuple[str, str, str]]  # name, type and value


class _Forms(HTMLParser):
    """The forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[_Form] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(_Form(given.get("action", ""), given.get("method", "get").lower(), []))
            self._inside = True
        elif tag == "input" and self._inside:
            kind = given.get("type", "").lower()
            self.forms[-1].inputs.append((given.get("name", ""), kind, given.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False


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
