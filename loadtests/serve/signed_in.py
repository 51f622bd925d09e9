"""Log a user in to a running server, for requests before the load."""

from __future__ import annotations

import contextlib
import http.client
import ssl
import urllib.request
from http.cookiejar import CookieJar
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit

from loadtests.journeys.forms import login_form
from loadtests.serve.http import connection, fetch
from loadtests.workload import Request, SignIn

WITHIN_S = 10.0
OK, REDIRECTS, FORBIDDEN = 200, (302, 303), 403


class NotSignedIn(Exception):
    """An error if the server refuses the login. The text contains the reason."""


class _Page(NamedTuple):
    status: int
    text: str
    location: str  # the path to which the server redirects


def cookies(origin: str, who: SignIn, host: str | None) -> str:
    """Log a user in, and return the ``Cookie`` header for the user's requests.

    Args:
        origin: The address of the server.
        who: The user and the way to log in.
        host: The Host header, or None to use the server's address.

    Raises:
        NotSignedIn: If the server refuses the login.
        UserError: If the password or the cookie isn't set.
    """
    secret = who.secret()
    if not who.login:
        return secret
    jar = CookieJar()
    page = _ask(jar, origin, who.login, host)
    if page.status != OK:
        raise NotSignedIn(f"GET {who.login}: answered {page.status} instead of {OK}")
    try:
        form = login_form(page.text, origin, who.login)
    except ValueError as error:
        raise NotSignedIn(f"GET {who.login}: {error}") from None
    before = _header(jar, origin)
    sent = _ask(jar, origin, form.action, host, form.filled(who.user, secret))
    if sent.status == FORBIDDEN:
        raise NotSignedIn(f"POST {form.action}: answered {FORBIDDEN}. Over plain HTTP, CSRF_COOKIE_SECURE must be off")
    if sent.status not in REDIRECTS or sent.location == urlsplit(who.login).path:
        raise NotSignedIn(f"POST {form.action}: {who.user} was refused: answered {sent.status}. Check the password")
    header = _header(jar, origin)
    if not {one for one in header.split("; ") if "csrf" not in one.partition("=")[0]} - set(before.split("; ")):
        raise NotSignedIn(
            f"POST {form.action}: {who.user} was logged in, but received no cookie for plain HTTP and this address. "
            "Turn SESSION_COOKIE_SECURE and SESSION_COOKIE_DOMAIN off"
        )
    return header


def _header(jar: CookieJar, origin: str) -> str:
    """Return the Cookie header for the next request."""
    request = urllib.request.Request(f"{origin}/")
    jar.add_cookie_header(request)
    return request.get_header("Cookie") or ""


def _ask(jar: CookieJar, origin: str, path: str, host: str | None, form: dict[str, str] | None = None) -> _Page:
    """Request a page with the cookies of the jar, and add new cookies to the jar.

    Raises:
        NotSignedIn: If there is no usable answer.
    """
    asked = urllib.request.Request(f"{origin}{path}")
    jar.add_cookie_header(asked)
    headers = {"Cookie": asked.get_header("Cookie"), "Host": host}
    method, body = "GET", None
    if form is not None:
        method, body = "POST", urlencode(form).encode()
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    sent = tuple((name, value) for name, value in headers.items() if value is not None)
    where = urlsplit(origin)
    tls = ssl.create_default_context() if where.scheme == "https" else None
    try:
        with contextlib.closing(connection(where.hostname or "", where.port or 80, WITHIN_S, tls)) as opened:
            response = fetch(opened, Request("sign-in", method, path, sent, body), WITHIN_S)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotSignedIn(f"{method} {path}: {type(error).__name__}: {error}") from None
    received: Any = SimpleNamespace(info=lambda: response.headers)
    jar.extract_cookies(received, asked)
    location = urlsplit(urljoin(f"{origin}{path}", response.headers.get("Location") or "")).path
    return _Page(response.status, response.body.decode(errors="replace"), location)
