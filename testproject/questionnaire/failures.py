"""A store that is down or slow: a line in the log, and 503 with a sentence, instead of a traceback and 500.

What was not written is not acknowledged: an answer is answered with a redirect only after the store has it.
"""

import contextlib
import functools
import logging
from collections.abc import Iterator

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase, UpdateError
from django.core.exceptions import SuspiciousOperation
from django.db import DatabaseError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

CACHE = "django.contrib.sessions.backends.cache"
AGAIN_AFTER_S = 2
UNREAD = "a session that is there could not be read"

logger = logging.getLogger("questionnaire")


@functools.cache
def of_store() -> tuple[type[Exception], ...]:
    """What the session store raises where it cannot be had. What the client library of another would raise is not
    imported: that of the datastore takes a second."""
    kinds: list[type[Exception]] = [OSError, DatabaseError]
    if "cache" in settings.SESSION_ENGINE:
        from redis.exceptions import RedisError

        kinds.append(RedisError)
    if "datastore" in settings.SESSION_ENGINE:
        from google.api_core.exceptions import GoogleAPIError

        kinds.append(GoogleAPIError)
    return tuple(kinds)


def may_hide(session: SessionBase) -> bool:
    """Whether a session that looks as if it were not there may be one that could not be read: Django's cache backend
    takes every failure of the cache for an empty session."""
    return bool(settings.SESSION_ENGINE == CACHE) and session.session_key is None


def behind(error: UpdateError) -> OperationalError | None:
    """The failure of the database that Django's database store calls an update of a session that is gone."""
    cause = error.__context__
    return cause if isinstance(cause, OperationalError) else None


def unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    """The answer where the store failed, and the line in the log. The session and its cookie stay as they are."""
    # As the request brought it: of one that could not be read, Django's middleware would delete the cookie.
    request.session = type(request.session)(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    _log(error)
    response = render(request, "questionnaire/unavailable.html", status=503)
    response.headers["Retry-After"] = str(AGAIN_AFTER_S)
    return response


@contextlib.contextmanager
def put_up_with() -> Iterator[None]:
    """Whoever signs in is signed in, also where the session that they had cannot be deleted: the store fails, which the
    log says, or the cookie is that of another store and no name in this one."""
    try:
        yield
    except SuspiciousOperation:
        pass
    except of_store() as error:
        _log(error)


def _log(error: Exception) -> None:
    why = " ".join(str(error).split())[:300] or type(error).__name__
    logger.error("the session store (%s) failed: %s", settings.SESSION_ENGINE, why)
