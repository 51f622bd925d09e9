"""From a request to what is asked, and from an outcome to a response."""

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
BLOB = "questionnaire"  # the key under which a session has it
LONGEST_NAME = 40


def to(step: str, page: str = "") -> HttpResponseRedirect:
    """To a step."""
    return HttpResponseRedirect(reverse(f"questionnaire:{step}", args=[page] if page else []))


def launched(request: HttpRequest) -> HttpResponse:
    """Signs in whom a launcher would: a respondent of a name of one's own, or a random one."""
    respondent = request.GET.get("respondent", "")[:LONGEST_NAME] or f"respondent-{secrets.token_hex(4)}"
    response = to("session")
    response.headers["Location"] += "?" + urlencode({"token": tokens.issue(respondent)})
    return response


def state_of(blob: str | None) -> State | None:
    """The state in what a session has."""
    return unpack(blob, settings.SECRET_KEY)


def blob_of(state: State) -> str:
    """What a session is to have. Raises TooLarge."""
    return pack(state, settings.SECRET_KEY, settings.QUESTIONNAIRE_STATE_BYTES)


def outcome(request: HttpRequest, step: str, page: str, state: State) -> steps.Outcome:
    """What a request leads to. Raises Http404 where there is no such page."""
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
    """To where those are sent who have no session: it was ended while the request was under way."""
    request.session.modified = False  # the middleware would save it, find that it is gone, and answer 400
    return to("signed-out")


def answered(request: HttpRequest, outcome: steps.Outcome) -> HttpResponse:
    """The response of an outcome; nobody keeps a page with somebody's answers."""
    if outcome.template:
        response = render(request, f"questionnaire/{outcome.template}.html", dict(outcome.context))
    else:
        response = to(outcome.to, outcome.page)
    response.headers["Cache-Control"] = "no-store"
    return response


def refused(request: HttpRequest, why: str) -> HttpResponse:
    """401, with a sentence."""
    return render(request, "questionnaire/signed-out.html", {"why": why}, status=401)


def saved(request: HttpRequest, response: HttpResponse, age_s: int) -> None:
    """The session's cookie, as Django's middleware sets it. The view has saved the session by itself, because only
    there a store that fails can be distinguished from a view that does; the middleware need not save it again."""
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
