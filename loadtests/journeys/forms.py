"""Read a page's forms and tokens, and log users in. This module doesn't import Locust.

With a login form, a journey starts with two additional steps. These steps count and have a separate route, because
servers check passwords slowly on purpose. With a cookie, all users share an existing session.
"""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from string import punctuation
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

from loadtests.journeys.steps import Answered, BrokenOff

if TYPE_CHECKING:
    from loadtests.journeys.base import Journey

ROUTE = "sign-in"
_TOKEN = re.compile(r"<input\b[^>]*\b(?:csrf|xsrf)[^>]*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_HOLE = re.compile(r"\{(\w+)\}")
TYPED = ("", "text", "email", "tel")  # the types of input fields for a user name


def tokens(page: Answered) -> dict[str, str]:
    """Return the name and value of the page's first CSRF field (``csrfmiddlewaretoken``), or an empty dict."""
    for found in _TOKEN.finditer(page.text):
        given = {name.lower(): html.unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(found[0])}
        if re.search("csrf|xsrf", given.get("name", ""), re.IGNORECASE):
            return {given["name"]: given.get("value", "")}
    return {}


def leads_to(route: str, ids: dict[str, str] | None = None) -> Callable[[Answered], BrokenOff | None]:
    """Return a check that an answer redirects to a route.

    If the route contains names in braces, such as ``/orders/{id}/``, the check stores their values in ``ids``.
    """
    parts, names = [], set()
    for place, part in enumerate(_HOLE.split(route)):
        if place % 2:
            parts.append(f"(?P={part})" if part in names else f"(?P<{part}>[^/?#]+)")
            names.add(part)
        else:
            parts.append(re.escape(part))
    pattern = re.compile("".join(parts))

    def check(answer: Answered) -> BrokenOff | None:
        match = pattern.fullmatch(answer.location)
        if match is None:
            where = answer.location.partition("?")[0] or "nowhere"
            return BrokenOff("status", f"the answer redirects to {where} instead of {route}")
        if ids is not None:
            ids.update(match.groupdict())
        return None

    return check


@dataclasses.dataclass(frozen=True)
class LoginForm:
    """A login form: the target path, the hidden fields and the first submit button, and the other fields' names."""

    action: str
    hidden: Mapping[str, str]
    user: str
    password: str

    def filled(self, user: str, password: str) -> dict[str, str]:
        """Return the fields to send, with a user name and a password."""
        return {**self.hidden, self.user: user, self.password: password}


def browser(origin: str, headers: Mapping[str, str]) -> tuple[dict[str, str], DefaultCookiePolicy]:
    """Return the headers and the cookie policy of a browser whose requests reach the server at ``origin``.

    With ``X-Forwarded-Proto: https`` or a similar header, the browser uses HTTPS to a proxy in front of the server.
    Over HTTPS, it sends Secure cookies, and the ``Referer`` that Django's CSRF check requires.
    """
    given = {name.lower(): value for name, value in headers.items()}
    if "https" not in (urlsplit(origin).scheme, *map(str.lower, given.values())):
        return dict(headers), DefaultCookiePolicy()
    host = given.get("x-forwarded-host") or given.get("host") or urlsplit(origin).netloc
    referer = {} if "referer" in given else {"Referer": f"https://{host}/"}
    return {**headers, **referer}, DefaultCookiePolicy(secure_protocols=("http", "https"))


def login_form(text: str, origin: str, path: str) -> LoginForm:
    """Return the login form of the page at ``path`` on ``origin`` (``http://127.0.0.1:8000``).

    Raises:
        ValueError: If the page has no suitable form, or the form's target is on another origin.
    """
    parser = _Forms()
    parser.feed(text)
    found = next((form for form in parser.forms if any(kind == "password" for _, kind, _ in form.inputs)), None)
    if found is None:
        raise ValueError("the page has no form with a password field")
    if found.method != "post":
        raise ValueError("the form's method isn't post, so it would send the password in the URL")
    target, home = urlsplit(urljoin(f"{origin}{path}", found.action)), urlsplit(origin)
    if (target.scheme, target.netloc) != (home.scheme, home.netloc) or not target.path.startswith("/"):
        raise ValueError(f"the form would send the password to another site, {target.scheme}://{target.hostname or ''}")
    names = [(name, kind) for name, kind, _ in found.inputs if name]
    password = next((name for name, kind in names if kind == "password"), "")
    user = next((name for name, kind in names if kind in TYPED), "")
    if not user or not password:
        raise ValueError("the form has no user name field next to the password field")
    sent = [one for one in found.inputs if one[1] == "hidden"] + [one for one in found.inputs if one[1] == "submit"][:1]
    hidden = {name: value for name, _, value in sent if name}
    action = quote(target.path + (f"?{target.query}" if target.query else ""), safe=punctuation)
    return LoginForm(action, hidden, user, password)


@dataclasses.dataclass
class _Form:
    action: str
    method: str
    inputs: list[tuple[str, str, str]]  # name, type and value


class _Forms(HTMLParser):
    """Collect the forms of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[_Form] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(_Form(given.get("action", ""), given.get("method", "get").lower(), []))
            self._inside = True
        elif tag in ("input", "button") and self._inside and "disabled" not in given:
            kind = given.get("type", "").lower()
            if tag == "button" and kind not in ("button", "reset"):
                kind = "submit"
            self.forms[-1].inputs.append((given.get("name", ""), kind, given.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False


@dataclasses.dataclass(frozen=True)
class Credentials:
    """The path of the login page, a user name and a password.

    If the path is empty, ``secret`` is a cookie header, such as ``sessionid=...; csrftoken=...``.
    """

    login: str
    user: str
    secret: str = dataclasses.field(repr=False)


def sign_in(user: Journey, who: Credentials) -> None:
    """Log a user in.

    Raises:
        BrokenOff: If the login fails.
        Left: If the load ends.
    """
    origin = user.host or ""
    if not who.login:
        keep(user.client.cookiejar, who.secret, origin)
        return
    forms: list[LoginForm] = []

    def check(page: Answered) -> BrokenOff | None:
        try:
            forms.append(login_form(page.text, origin, who.login))
        except ValueError as error:
            return BrokenOff("wrong-body", f"the login page: {error}")
        return None

    user.get(who.login, ROUTE, check=check)
    user.post(forms[0].action, ROUTE, forms[0].filled(who.user, who.secret))
    user.signed_out = urlsplit(who.login).path  # from now on, a redirect to this path means a lost session


def keep(jar: CookieJar, text: str, origin: str) -> None:
    """Add the cookies in a cookie header to a jar, for one origin."""
    domain = urlsplit(origin).hostname or ""
    for part in text.split(";"):
        name, _, value = part.strip().partition("=")
        if name:
            jar.set_cookie(
                Cookie(0, name, value, None, False, domain, False, False, "/", True, False, None, True, None, None, {})
            )
