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

from loadtests.errors import limit_hint
from loadtests.journeys.forms import login_form
from loadtests.serve.http import connection, fetch
from loadtests.setups.application import Application
from loadtests.workload import Request, SignIn

WITHIN_S = 10.0
OK, REDIRECTS, FORBIDDEN = 200, (302, 303), 403


class NotSignedIn(Exception):
    """An error if the server refuses the login. The text contains the reason."""


class _Page(NamedTuple):
    status: int
    text: str
    location: str  # the path to which the server redirects


def cookies(origin: str, who: SignIn, application: Application) -> tuple[str, ...]:
    """Log all users in, and return the ``Cookie`` header for each user's requests.

    Args:
        origin: The address of the server.
        who: The users and the way to log in.
        application: The application that the server serves.

    Raises:
        NotSignedIn: If the server refuses a login.
        UserError: If a password or the cookie isn't set.
    """
    if not who.login:
        return tuple(secret for _, secret in who.accounts())
    return tuple(_cookie(origin, who.login, *account, application) for account in who.accounts())


def _cookie(origin: str, login: str, user: str, password: str, application: Application) -> str:
    jar, host = CookieJar(), application.host
    page = _ask(jar, origin, login, host)
    if page.status != OK:
        raise NotSignedIn(f"GET {login}: answered {page.status} instead of {OK}{limit_hint(page.status)}")
    try:
        form = login_form(page.text, origin, login)
    except ValueError as error:
        raise NotSignedIn(f"GET {login}: {error}") from None
    sent = _ask(jar, origin, form.action, host, form.filled(user, password))
    if sent.status == FORBIDDEN:
        raise NotSignedIn(f"POST {form.action}: answered {FORBIDDEN}. Over plain HTTP, CSRF_COOKIE_SECURE must be off")
    if sent.status not in REDIRECTS or sent.location == urlsplit(login).path:
        why = limit_hint(sent.status) or ". Check the password"
        raise NotSignedIn(f"POST {form.action}: {user} was refused: answered {sent.status}{why}")
    request = urllib.request.Request(f"{origin}/")
    jar.add_cookie_header(request)
    header, name = request.get_header("Cookie") or "", application.session_cookie
    if name and name not in {cookie.partition("=")[0] for cookie in header.split("; ")}:
        raise NotSignedIn(
            f"POST {form.action}: {user} was logged in, but received no cookie {name} for plain HTTP and this address. "
            "Turn SESSION_COOKIE_SECURE and SESSION_COOKIE_DOMAIN off"
        )
    return header


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
