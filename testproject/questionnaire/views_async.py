"""The questionnaire from coroutines: what views.py does, with the asynchronous methods of the session."""

import contextlib
import functools
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.base import UpdateError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET, require_http_methods

from questionnaire import failures, pages, tokens, used
from questionnaire.state import State
from questionnaire.turns import aturn, to_its_end


def answering(view: Callable[..., Awaitable[HttpResponse]]) -> Callable[..., Awaitable[HttpResponse]]:
    """As in views.py."""

    @functools.wraps(view)
    async def wrapped(request: HttpRequest, **arguments: Any) -> HttpResponse:
        try:
            return await view(request, **arguments)
        except UpdateError as error:
            if (failure := failures.behind(error)) is not None:
                return failures.unavailable(request, failure)
            return pages.ended(request)
        except failures.of_store() as error:
            return failures.unavailable(request, error)

    return wrapped


@require_GET
async def launch(request: HttpRequest) -> HttpResponse:
    """As in views.py."""
    return pages.launched(request)


@require_GET
@answering
async def session(request: HttpRequest) -> HttpResponse:
    """As in views.py."""
    try:
        ticket = tokens.read(request.GET.get("token", ""))
    except tokens.Refused as refusal:
        return pages.refused(request, str(refusal))
    signed_in = type(request.session)()
    await signed_in.aset(pages.BLOB, pages.blob_of(State(ticket.respondent)))
    await signed_in.asave()
    try:
        await used.ause(ticket)
    except tokens.Refused as refusal:
        await signed_in.adelete()
        return pages.refused(request, str(refusal))
    with failures.put_up_with():
        await request.session.adelete()
    request.session = signed_in
    response = pages.to(request, "introduction")
    pages.saved(request, response, await signed_in.aget_expiry_age())
    return response


@require_http_methods(["GET", "HEAD", "POST"])
async def step(request: HttpRequest, step: str, page: str = "") -> HttpResponse:
    """As in views.py; what a POST has begun is done, also where its client goes away meanwhile."""
    taken = _step(request, step=step, page=page)
    return await to_its_end(taken) if request.method == "POST" else await taken


@answering
async def _step(request: HttpRequest, step: str, page: str) -> HttpResponse:
    cookie = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    async with aturn(cookie) if cookie and request.method == "POST" else contextlib.nullcontext():
        state = pages.state_of(await request.session.aget(pages.BLOB))
        if state is None:
            if cookie and failures.may_hide(request.session) and await request.session.aexists(cookie):
                raise OSError(failures.UNREAD)
            return pages.to(request, "signed-out")
        outcome = pages.outcome(request, step, page, state)
        response = pages.answered(request, outcome)
        if outcome.state is not None:
            await request.session.aset(pages.BLOB, pages.blob_of(outcome.state))
            await request.session.asave()
            pages.saved(request, response, await request.session.aget_expiry_age())
        if outcome.over:
            await request.session.aflush()
    return response


leave = require_GET(step)


@require_GET
async def signed_out(request: HttpRequest) -> HttpResponse:
    """As in views.py."""
    return pages.refused(request, "You are not signed in, or your session has ended.")
