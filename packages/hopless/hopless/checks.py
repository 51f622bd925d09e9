"""Check a project for code that still changes threads, and for settings that are unsafe with kept threads."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core import checks, signals
from django.db import connections
from django.utils.deprecation import MiddlewareMixin
from django.utils.module_loading import import_string

from hopless import private
from hopless.middleware import KNOWN, MESSAGE_STORAGES, SESSION_ENGINES, HopsToBlock

WRAPPED_RECEIVERS = "An agent wraps Django's receivers. For sentry-sdk, use DjangoIntegration(signals_spans=False)."


def hops(app_configs: Any = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Return a message for each part of the project that changes threads, and warnings for unsafe settings."""
    if lacking := private.missing():
        text = f"This version of Django or asgiref lacks {', '.join(lacking)}: Django's own handler is used."
        return [checks.Warning(text, id="hopless.W001")]
    found = [*_middleware(), *_settings(), *_signals(), *_health_checks()]
    return found


def _middleware() -> Iterator[checks.CheckMessage]:
    for path in settings.MIDDLEWARE:
        if path in KNOWN:
            continue
        middleware = import_string(path)
        if isinstance(middleware, type) and issubclass(middleware, HopsToBlock) and middleware.blocks:
            continue
        if not getattr(middleware, "async_capable", False):
            yield checks.Info(
                f"{path} is synchronous: it runs in a thread, and Django changes threads before and after it.",
                hint="While the middleware is used, other changes don't help. Use an asynchronous version if possible.",
                id="hopless.I001",
            )
        elif isinstance(middleware, type) and issubclass(middleware, MiddlewareMixin):
            hooks = [
                f"process_{hook}" for hook in ("request", "view", "response") if hasattr(middleware, f"process_{hook}")
            ]
            yield checks.Info(f"{path} is not part of Django: {_series(hooks)} run in a thread.", id="hopless.I002")


def _settings() -> Iterator[checks.CheckMessage]:
    if settings.SESSION_ENGINE not in SESSION_ENGINES:
        yield checks.Info(
            f"SESSION_ENGINE is not one of Django's engines ({settings.SESSION_ENGINE}): "
            "sessions are created and saved in a thread.",
            id="hopless.I003",
        )
    if settings.MESSAGE_STORAGE not in MESSAGE_STORAGES:
        yield checks.Info(
            f"MESSAGE_STORAGE is not one of Django's storages ({settings.MESSAGE_STORAGE}): "
            "messages are created and saved in a thread.",
            id="hopless.I003",
        )
    if settings.CSRF_USE_SESSIONS:
        yield checks.Info("CSRF_USE_SESSIONS is set: each request reads a session in a thread.", id="hopless.I003")
    if settings.SESSION_SAVE_EVERY_REQUEST:
        yield checks.Info(
            "SESSION_SAVE_EVERY_REQUEST is set: each request saves a session in a thread.", id="hopless.I003"
        )
    if type(settings.ALLOWED_HOSTS) not in (list, tuple):  # Django allows only these classes and their subclasses
        yield checks.Warning(
            "ALLOWED_HOSTS is not a list: if it queries a database, it blocks the event loop.",
            hint="Use get_asgi_application(substitute=False).",
            id="hopless.W002",
        )


def _signals() -> Iterator[checks.CheckMessage]:
    from hopless.handler import OF_A_THREAD_AT_END, OF_A_THREAD_AT_START  # fails if a private name is missing

    for name, known in (("request_started", OF_A_THREAD_AT_START), ("request_finished", OF_A_THREAD_AT_END)):
        synchronous, _ = private.receivers(getattr(signals, name), private.ASGIHandler)
        others = [one for one in synchronous if one not in known]
        names = [f"{one.__module__}.{one.__qualname__}" for one in others]
        wrapped = any(inspect.unwrap(one) in known for one in others)
        if others:
            yield checks.Info(
                f"{name} has receivers that are not Django's own ({_series(names)}): "
                "each request sends this signal in a thread.",
                hint=WRAPPED_RECEIVERS if wrapped else None,
                id="hopless.I004",
            )


def _health_checks() -> Iterator[checks.CheckMessage]:
    for alias, database in connections.settings.items():
        persistent = database["CONN_MAX_AGE"] != 0 and not database["ENGINE"].endswith(".sqlite3")
        if persistent and not database["CONN_HEALTH_CHECKS"]:
            yield checks.Warning(
                f"DATABASES[{alias!r}] has CONN_MAX_AGE, but not CONN_HEALTH_CHECKS: after a restart of the database, "
                "one request fails for each kept connection.",
                hint="Set CONN_HEALTH_CHECKS to True.",
                id="hopless.W003",
            )


def log_missing_health_checks() -> None:
    """Log the warnings about health checks when the server starts, because few projects run checks in production."""
    for warning in _health_checks():
        logging.getLogger("hopless").warning("%s %s", warning.msg, warning.hint)


def _series(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
