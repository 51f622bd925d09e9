"""Answer 503 and log a line if the session store fails, instead of a 500 with a traceback.

The questionnaire confirms an answer only after the store has saved it.
"""

import functools
import logging

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase, UpdateError
from django.db import DatabaseError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

CACHE = "django.contrib.sessions.backends.cache"
AGAIN_AFTER_S = 2
UNREAD = "an existing session could not be read"

logger = logging.getLogger("questionnaire")


@functools.cache
def of_store() -> tuple[type[Exception], ...]:
    """Return the exceptions that the session store raises if it can't be reached.

    The function doesn't import the client libraries of other stores, because the datastore's library takes a second.
    """
    kinds: list[type[Exception]] = [OSError, DatabaseError]
    if "cache" in settings.SESSION_ENGINE:
        from redis.exceptions import RedisError

        kinds.append(RedisError)
    if "datastore" in settings.SESSION_ENGINE:
        from google.api_core.exceptions import GoogleAPIError

        kinds.append(GoogleAPIError)
    return tuple(kinds)


def may_hide(session: SessionBase) -> bool:
    """Return whether a session that seems to be missing may be a session that couldn't be read.

    Django's cache backend treats each failure of the cache as an empty session.
    """
    return bool(settings.SESSION_ENGINE == CACHE) and session.session_key is None


def behind(error: UpdateError) -> OperationalError | None:
    """Return the database's failure, or None. Django's database store reports it as an update of a deleted session."""
    cause = error.__context__
    return cause if isinstance(cause, OperationalError) else None


def unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    """Log a failure of the store and return a 503. The session and its cookie don't change."""
    # Restore the session of the request. Django's middleware would delete the cookie of a session that couldn't be
    # read.
    request.session = type(request.session)(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    _log(error)
    response = render(request, "questionnaire/unavailable.html", status=503)
    response.headers["Retry-After"] = str(AGAIN_AFTER_S)
    return response


def _log(error: Exception) -> None:
    why = " ".join(str(error).split())[:300] or type(error).__name__
    logger.error("the session store (%s) failed: %s", settings.SESSION_ENGINE, why)
