"""Signs a user in to a running server, for requests before the load."""

from __future__ import annotations

import http.client
import urllib.request
from http.cookiejar import CookieJar
from typing import NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit

from loadtests.journeys.forms import login_form
from loadtests.workload import SignIn

WITHIN_S = 10.0
OK, REDIRECTS, FORBIDDEN = 200, (302, 303), 403


class NotSignedIn(Exception):
    """The server refuses the sign-in; the text says how."""


class _Page(NamedTuple):
    status: int
    text: str
    location: str  # a path


class _NoRedirects(urllib.request.HTTPErrorProcessor):
    """Returns redirects and errors as they are."""

    def http_response(
        self, request: urllib.request.Request, response: http.client.HTTPResponse
    ) -> http.client.HTTPResponse:
        return response


def cookies(origin: str, who: SignIn, host: str | None) -> str:
    """The ``Cookie`` header of a signed-in user of the server at ``origin``, called ``host`` where that is not None.
    Raises NotSignedIn, and UserError where the password or the cookie is not known."""
    secret = who.secret()
    if not who.login:
        return secret
    jar = CookieJar()
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(jar), _NoRedirects()
    )
    page = _ask(opener, origin, who.login, host)
    if page.status != OK:
        raise NotSignedIn(f"GET {who.login}: answered {page.status}; {OK} is needed")
    try:
        form = login_form(page.text, origin, who.login)
    except ValueError as error:
        raise NotSignedIn(f"GET {who.login}: {error}") from None
    before = _header(jar, origin)
    sent = _ask(opener, origin, form.action, host, form.filled(who.user, secret))
    if sent.status == FORBIDDEN:
        raise NotSignedIn(
            f"POST {form.action}: answered {FORBIDDEN}; is CSRF_COOKIE_SECURE on, and this is plain HTTP?"
        )
    if sent.status not in REDIRECTS or sent.location == urlsplit(who.login).path:
        raise NotSignedIn(f"POST {form.action}: {who.user} was refused: answered {sent.status}; is the password right?")
    header = _header(jar, origin)
    if not {one for one in header.split("; ") if "csrf" not in one.partition("=")[0]} - set(before.split("; ")):
        raise NotSignedIn(
            f"POST {form.action}: {who.user} was let in, but no cookie came that goes back over plain HTTP to this "
            "address; turn SESSION_COOKIE_SECURE and SESSION_COOKIE_DOMAIN off"
        )
    return header


def _header(jar: CookieJar, origin: str) -> str:
    """The cookies that go back."""
    request = urllib.request.Request(f"{origin}/")
    jar.add_cookie_header(request)
    return request.get_header("Cookie") or ""


def _ask(
    opener: urllib.request.OpenerDirector,
    origin: str,
    path: str,
    host: str | None,
    form: dict[str, str] | None = None,
) -> _Page:
    headers = {} if host is None else {"Host": host}
    body = None if form is None else urlencode(form).encode()
    try:
        with opener.open(urllib.request.Request(f"{origin}{path}", body, headers), timeout=WITHIN_S) as response:
            text = response.read().decode(errors="replace")
            location = urlsplit(urljoin(f"{origin}{path}", response.headers.get("Location") or "")).path
            return _Page(response.status, text, location)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotSignedIn(f"{'GET' if form is None else 'POST'} {path}: {type(error).__name__}: {error}") from None
