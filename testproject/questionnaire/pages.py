"""Convert requests for the module `steps`, and convert its outcomes to responses."""

import datetime
import secrets
import time

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import http_date, urlencode

from questionnaire import definition as definitions
from questionnaire import steps, tokens
from questionnaire.state import State, pack, unpack

SURVEY = "household"
BLOB = "questionnaire"  # the key in the session
LONGEST_NAME = 40


def to(step: str, page: str = "") -> HttpResponseRedirect:
    """Redirect to a step."""
    return HttpResponseRedirect(reverse(f"questionnaire:{step}", args=[page] if page else []))


def launched(request: HttpRequest) -> HttpResponse:
    """Redirect to `session` with a token, for the respondent in the query or a random respondent."""
    respondent = request.GET.get("respondent", "")[:LONGEST_NAME] or f"respondent-{secrets.token_hex(4)}"
    response = to("session")
    response.headers["Location"] += "?" + urlencode({"token": tokens.issue(respondent)})
    return response


def state_of(blob: str | None) -> State | None:
    """Return the state in a session's blob, or None if there is no valid blob."""
    return unpack(blob, settings.SECRET_KEY)


def blob_of(state: State) -> str:
    """Return the blob of a state for the session.

    Raises:
        TooLarge: If the state exceeds QUESTIONNAIRE_STATE_BYTES.
    """
    return pack(state, settings.SECRET_KEY, settings.QUESTIONNAIRE_STATE_BYTES)


def outcome(request: HttpRequest, step: str, page: str, state: State) -> steps.Outcome:
    """Return the outcome of a request.

    Raises:
        Http404: If the page doesn't exist.
    """
    asked = steps.Asked(
        post=request.method == "POST",
        page=page,
        given=dict(request.POST.lists()) if request.method == "POST" else {},
        change="change" in request.GET,
        today=datetime.datetime.now(datetime.UTC).date(),
        reference=secrets.token_hex(4).upper(),
    )
    found = steps.take(step, definitions.load(SURVEY), state, asked)
    if found is None:
        raise Http404
    return found


def ended(request: HttpRequest) -> HttpResponse:
    """Redirect to `signed-out`, because another request ended the session during this request."""
    # Prevent the middleware from saving the session, because a session that no longer exists causes a 400.
    request.session.modified = False
    return to("signed-out")


def answered(request: HttpRequest, outcome: steps.Outcome) -> HttpResponse:
    """Return the response for an outcome. Caches may not store a page with a respondent's answers."""
    if outcome.template:
        response = render(request, f"questionnaire/{outcome.template}.html", dict(outcome.context))
    else:
        response = to(outcome.to, outcome.page)
    response.headers["Cache-Control"] = "no-store"
    return response


def refused(request: HttpRequest, why: str) -> HttpResponse:
    """Return a 401 with the reason."""
    return render(request, "questionnaire/signed-out.html", {"why": why}, status=401)


def saved(request: HttpRequest, response: HttpResponse, age_s: int) -> None:
    """Set the session's cookie as Django's middleware does.

    The view has already saved the session, because only the view can distinguish a failure of the store from other
    errors. The middleware doesn't need to save it again.
    """
    request.session.modified = False
    response.set_cookie(
        settings.SESSION_COOKIE_NAME,
        request.session.session_key,
        max_age=age_s,
        expires=http_date(time.time() + age_s),
        domain=settings.SESSION_COOKIE_DOMAIN,
        path=settings.SESSION_COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE or None,
        httponly=settings.SESSION_COOKIE_HTTPONLY or None,
        samesite=settings.SESSION_COOKIE_SAMESITE,
    )
