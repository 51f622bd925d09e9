"""Log a user in to a running server, for requests before the load."""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import ssl
import urllib.request
from http.cookiejar import CookieJar
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from loadtests.errors import UserError, limit_hint
from loadtests.journeys.forms import browser, login_form
from loadtests.serve.contract import SEND_PROXY, hint, redirect_of
from loadtests.serve.http import Answer, connection, fetch
from loadtests.setups.application import Application
from loadtests.workload import Request, SignIn

WITHIN_S = 10.0
OK, REDIRECTS, FORBIDDEN = 200, (302, 303), 403
WRONG_PASSWORD = (OK, *REDIRECTS, 401)


class NotSignedIn(Exception):
    """An error if the server refuses the login. The text contains the reason."""


def cookies(
    origin: str, who: SignIn, application: Application, ca: str | None = None, most: int | None = None
) -> tuple[str, ...]:
    """Log users in, and return the ``Cookie`` header for each user's requests.

    Args:
        origin: The address of the server.
        who: The users and the way to log in.
        application: The application that the server serves.
        ca: The certificate to trust (PEM), if the server uses HTTPS.
        most: The number of users to log in, or None for all users.

    Raises:
        NotSignedIn: If the server refuses a login.
        UserError: If a password or the cookie isn't set, or the project's headers contain another cookie.
    """
    if any(name.lower() == "cookie" for name, _ in application.headers):
        raise UserError("--header Cookie and a login can't be combined. Leave one out")
    accounts = who.accounts()[:most]
    if not who.login:
        return tuple(secret for _, secret in accounts)
    return tuple(_cookie(origin, who.login, *account, application, ca) for account in accounts)


def _cookie(origin: str, login: str, user: str, password: str, application: Application, ca: str | None) -> str:
    jar = CookieJar(browser(origin, dict(application.headers))[1])
    page = _ask(jar, origin, login, application, ca)
    if page.status != OK:
        why = hint(Request("sign-in", path=login), page, application)
        raise NotSignedIn(f"GET {login}: answered {page.status} instead of {OK}{why}")
    try:
        form = login_form(page.body.decode(errors="replace"), origin, login)
    except ValueError as error:
        raise NotSignedIn(f"GET {login}: {error}") from None
    fields = form.filled(user, password)
    sent = _ask(jar, origin, form.action, application, ca, fields)
    if sent.status == FORBIDDEN:
        remedy = "Check CSRF_COOKIE_DOMAIN" if application.forwarded else f"{SEND_PROXY} if CSRF_COOKIE_SECURE is on"
        raise NotSignedIn(f"POST {form.action}: answered {FORBIDDEN}. {remedy}")
    try:
        location = urlsplit(urljoin(f"{origin}{form.action}", dict(sent.headers)["Location"])).path
    except ValueError as error:
        raise NotSignedIn(f"POST {form.action}: the answer's Location is not valid: {error}") from None
    if sent.status not in REDIRECTS or location == urlsplit(login).path:
        if sent.status in WRONG_PASSWORD:
            raise NotSignedIn(f"POST {form.action}: {user} was refused: answered {sent.status}. Check the password")
        remedy = redirect_of(sent, application) or f"Compare its fields with your browser's: {', '.join(fields)}"
        why = limit_hint(sent.status) or f". {remedy}"
        raise NotSignedIn(f"POST {form.action}: answered {sent.status} instead of a redirect{why}")
    request = urllib.request.Request(f"{origin}/")
    jar.add_cookie_header(request)
    header, name = request.get_header("Cookie") or "", application.session_cookie
    received = [cookie.partition("=")[0] for cookie in header.split("; ") if cookie]
    if name and not any(one in (name, f"__Host-{name}", f"__Secure-{name}") for one in received):
        remedy = "" if application.forwarded else f". {SEND_PROXY} if SESSION_COOKIE_SECURE is on"
        others = f", only {', '.join(received)}" if received else ""
        raise NotSignedIn(
            f"POST {form.action}: {user} was logged in, but received no cookie {name} for this address{others}. "
            f"Turn SESSION_COOKIE_DOMAIN off{remedy}"
        )
    return header


def _ask(
    jar: CookieJar, origin: str, path: str, app: Application, ca: str | None, form: dict[str, str] | None = None
) -> Answer:
    """Request a page with the cookies of the jar, and add new cookies to the jar.

    Raises:
        NotSignedIn: If there is no usable answer.
    """
    asked = urllib.request.Request(f"{origin}{path}")
    jar.add_cookie_header(asked)
    headers = {"Cookie": asked.get_header("Cookie"), "Accept-Encoding": "identity"}
    method, body = "GET", None
    if form is not None:
        method, body = "POST", urlencode(form).encode()
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    sent = tuple((name, value) for name, value in headers.items() if value is not None)
    [request] = app.addressed([Request("sign-in", method, path, sent, body)])
    request = dataclasses.replace(request, headers=tuple(browser(origin, dict(request.headers))[0].items()))
    where = urlsplit(origin)
    tls = ssl.create_default_context(cadata=ca) if where.scheme == "https" else None
    try:
        with contextlib.closing(connection(where.hostname or "", where.port or 80, WITHIN_S, tls)) as opened:
            response = fetch(opened, request, WITHIN_S)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotSignedIn(f"{method} {path}: {type(error).__name__}: {error}") from None
    received: Any = SimpleNamespace(info=lambda: response.headers)
    jar.extract_cookies(received, asked)
    return Answer(response.status, "", response.body, headers=(("Location", response.headers.get("Location") or ""),))
