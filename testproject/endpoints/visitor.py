"""Measure the cost of a session and of a user in a view (docs/endpoints.rst).

`manage.py prepare` creates a user and a session in the database. The key of the session is public. Requests without the
session's cookie receive a 401.
"""

import datetime
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, aget_user, get_user
from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse, JsonResponse

NAME = "visitor"
COOKIE = "visitorofthebenchmark"
VISITS = 3
NO_PASSWORD = "!"  # an unusable password without a random part, because the session contains the password's hash
EXPIRES = datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC)


def sign_in() -> None:
    """Create the user and the session unless they exist."""
    visitor, _ = User.objects.get_or_create(username=NAME, defaults={"password": NO_PASSWORD})
    wanted = {
        "visits": VISITS,
        SESSION_KEY: str(visitor.pk),
        BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
        HASH_SESSION_KEY: visitor.get_session_auth_hash(),
    }
    if SessionStore(COOKIE).load() != wanted:
        values = {"session_data": SessionStore().encode(wanted), "expire_date": EXPIRES}
        Session.objects.update_or_create(session_key=COOKIE, defaults=values)


def session(request: HttpRequest) -> HttpResponse:
    """Return a value of the session."""
    return answer("visits", session_of(request).get("visits"))


async def session_async(request: HttpRequest) -> HttpResponse:
    return answer("visits", await session_of(request).aget("visits"))


def user(request: HttpRequest) -> HttpResponse:
    """Return the name of the user."""
    session_of(request)
    return answer("user", get_user(request).get_username())


async def user_async(request: HttpRequest) -> HttpResponse:
    session_of(request)
    return answer("user", (await aget_user(request)).get_username())


def session_of(request: HttpRequest) -> SessionBase:
    """Return the session of the request.

    If `MIDDLEWARES` omits Django's SessionMiddleware, create the session as this middleware does.
    """
    if not hasattr(request, "session"):
        engine = import_module(settings.SESSION_ENGINE)
        request.session = engine.SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    return request.session


def answer(name: str, found: Any) -> HttpResponse:
    """Return the value, or a 401 if there is no value."""
    return JsonResponse({name: found}) if found else HttpResponse("nobody is signed in\n", status=401)
