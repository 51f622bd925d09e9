"""Signs somebody in to a running server, to see before any load that it can be done, and to ask what others are not
shown."""

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
    """The server does not let somebody in; its text says what was seen."""


class _Seen(NamedTuple):
    status: int
    text: str
    location: str  # a path


class _AsItCame(urllib.request.HTTPErrorProcessor):
    """Leaves redirects and errors to whoever asked."""

    def http_response(
        self, request: urllib.request.Request, response: http.client.HTTPResponse
    ) -> http.client.HTTPResponse:
        return response


def cookies(origin: str, who: SignIn, host: str | None) -> str:
    """What a signed-in user's ``Cookie`` header holds on the server at ``origin``, which is asked as ``host`` where
    that is not None. Cookies are kept as injectors keep them. Raises NotSignedIn, and UserError where the password or
    the cookie is not known."""
    secret = who.secret()
    if not who.login:
        return secret
    jar = CookieJar()
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(jar), _AsItCame()
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
) -> _Seen:
    headers = {} if host is None else {"Host": host}
    body = None if form is None else urlencode(form).encode()
    try:
        with opener.open(urllib.request.Request(f"{origin}{path}", body, headers), timeout=WITHIN_S) as response:
            text = response.read().decode(errors="replace")
            location = urlsplit(urljoin(f"{origin}{path}", response.headers.get("Location") or "")).path
            return _Seen(response.status, text, location)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotSignedIn(f"{'GET' if form is None else 'POST'} {path}: {type(error).__name__}: {error}") from None
