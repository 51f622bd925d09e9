"""Read and write the session of the questionnaire. steps.py contains the logic."""

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.base import UpdateError
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET, require_http_methods

from questionnaire import failures, pages, tokens, used
from questionnaire.state import State


def answering(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer 503 if the store fails, and redirect to `signed-out` if another request ended the session."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, **arguments: Any) -> HttpResponse:
        try:
            return view(request, **arguments)
        except UpdateError as error:
            if (failure := failures.behind(error)) is not None:
                return failures.unavailable(request, failure)
            return pages.ended(request)
        except failures.of_store() as error:
            return failures.unavailable(request, error)

    return wrapped


@require_GET
def launch(request: HttpRequest) -> HttpResponse:
    """Redirect to `session` with a new token, as a launcher does. For tests and manual use."""
    return pages.launched(request)


@require_GET
@answering
def session(request: HttpRequest) -> HttpResponse:
    """Sign in with `?token=`."""
    try:
        ticket = tokens.read(request.GET.get("token", ""))
    except tokens.Refused as refusal:
        return pages.refused(request, str(refusal))
    signed_in = type(request.session)()
    signed_in[pages.BLOB] = pages.blob_of(State(ticket.respondent))
    signed_in.save()  # saved before the token is used, so that the token is still valid if the store fails
    try:
        used.use(ticket)
    except tokens.Refused as refusal:
        signed_in.delete()  # the previous session is kept
        return pages.refused(request, str(refusal))
    with contextlib.suppress(SuspiciousOperation):  # the cookie of another store can contain an invalid key
        request.session.delete()
    request.session = signed_in
    response = pages.to("introduction")
    pages.saved(request, response, signed_in.get_expiry_age())
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@answering
def step(request: HttpRequest, step: str, page: str = "") -> HttpResponse:
    """Handle a step of the questionnaire."""
    cookie = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    state = pages.state_of(request.session.get(pages.BLOB))
    if state is None:
        # If the store is down, `exists` raises the store's exception.
        if cookie and failures.may_hide(request.session) and request.session.exists(cookie):
            raise OSError(failures.UNREAD)
        return pages.to("signed-out")
    outcome = pages.outcome(request, step, page, state)
    response = pages.answered(request, outcome)
    if outcome.state is not None:
        request.session[pages.BLOB] = pages.blob_of(outcome.state)
        request.session.save()
        pages.saved(request, response, request.session.get_expiry_age())
    if outcome.over:
        request.session.flush()
    return response


leave = require_GET(step)


@require_GET
def signed_out(request: HttpRequest) -> HttpResponse:
    """Show the page for clients without a session."""
    return pages.refused(request, "You are not signed in, or your session has ended.")
