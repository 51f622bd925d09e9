"""A store that is down or slow: a line in the log, and 503 with a sentence, instead of a traceback and 500.

What was not written is not acknowledged: an answer is answered with a redirect only after the store has it.
"""

import functools
import logging

from django.conf import settings
from django.contrib.sessions.backends.base import UpdateError
from django.db import DatabaseError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

CACHE = "django.contrib.sessions.backends.cache"
AGAIN_AFTER_S = 2

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


def hidden() -> bool:
    """Whether a session that cannot be read looks like one that is not there: Django's cache backend takes every
    failure of the cache for an empty session."""
    return bool(settings.SESSION_ENGINE == CACHE)


def behind(error: UpdateError) -> OperationalError | None:
    """The failure of the database that Django's database store calls an update of a session that is gone."""
    cause = error.__context__
    return cause if isinstance(cause, OperationalError) else None


def unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    """The answer where the store failed, and the line in the log."""
    why = " ".join(str(error).split())[:300] or type(error).__name__
    logger.error("the session store (%s) failed: %s", settings.SESSION_ENGINE, why)
    response = render(request, "questionnaire/unavailable.html", status=503)
    response.headers["Retry-After"] = str(AGAIN_AFTER_S)
    return response
