"""Access the private names of Django and asgiref that this package needs.

No other module uses undocumented names. The names are tested with Django 5.2 and 6.1, and asgiref 3.13. If a future
version lacks a name, ``missing`` returns it, and Django's own handler and middleware serve the project.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import logging
import pkgutil
from typing import Any

from django.core.cache import caches
from django.db import connections
from django.dispatch import Signal
from django.http import HttpRequest
from django.http.response import HttpResponseBase

NAMES = (
    "asgiref.sync:AsyncToSync.executors",
    "asgiref.sync:SyncToAsync.context_to_thread_executor",
    "asgiref.sync:SyncToAsync.thread_sensitive_context",
    "django.core.asgi:ASGIHandler",
    "django.core.cache:close_caches",
    "django.core.handlers.asgi:ASGIHandler.create_request",
    "django.core.handlers.asgi:ASGIHandler.get_response_async",
    "django.core.handlers.asgi:ASGIHandler.handle",
    "django.core.handlers.asgi:ASGIHandler.listen_for_disconnect",
    "django.core.handlers.asgi:ASGIHandler.load_middleware",
    "django.core.handlers.asgi:ASGIHandler.read_body",
    "django.core.handlers.asgi:ASGIHandler.run_get_response",
    "django.core.handlers.asgi:ASGIHandler.send_response",
    "django.core.handlers.asgi:get_script_prefix",
    "django.core.handlers.base:BaseHandler.get_response",
    "django.core.handlers.base:BaseHandler.load_middleware",
    "django.core.handlers.base:reset_urlconf",
    "django.dispatch:Signal._live_receivers",
    "django.urls:get_resolver",
    "django.urls:set_script_prefix",
    "django.utils.connection:BaseConnectionHandler.close_all",
    "django.utils.deprecation:MiddlewareMixin.__acall__",
    "django.utils.translation.trans_real:_translations",
)
# For each class, an attribute that its objects must have.
ATTRIBUTES = (
    ("django.core.handlers.base:BaseHandler", "_view_middleware"),
    ("django.dispatch:Signal", "receivers"),
    ("django.http:HttpResponse", "_handler_class"),
    ("django.http:HttpResponse", "_resource_closers"),
)
# For each function, a parameter that it must have.
PARAMETERS = {"django.utils.connection:BaseConnectionHandler.all": "initialized_only"}


def _found(path: str) -> Any:
    """Return the object at ``module:name``, or None."""
    try:
        return pkgutil.resolve_name(path)
    except (ImportError, AttributeError):
        return None


AsyncToSync = _found("asgiref.sync:AsyncToSync")
SyncToAsync = _found("asgiref.sync:SyncToAsync")
ASGIHandler = _found("django.core.handlers.asgi:ASGIHandler")
BaseHandler = _found("django.core.handlers.base:BaseHandler")
close_caches = _found("django.core.cache:close_caches")
get_resolver = _found("django.urls:get_resolver")
get_script_prefix = _found("django.core.handlers.asgi:get_script_prefix")
reset_urlconf = _found("django.core.handlers.base:reset_urlconf")
set_script_prefix = _found("django.urls:set_script_prefix")
trans_real = _found("django.utils.translation.trans_real")
# The context variable with the executors of ``async_to_sync``. Reading it is faster than reading an attribute that
# isn't set. asgiref 3.12 has another structure.
_executors = _found("asgiref.sync:AsyncToSync.executors._storage._data")
if not isinstance(_executors, contextvars.ContextVar):
    _executors = None


def missing() -> list[str]:
    """Return the names that this version of Django or asgiref doesn't have. The settings must be configured."""
    lacking = [path for path in NAMES if _found(path) is None]
    for path, name in ATTRIBUTES:
        if (made := _found(path)) is None or not hasattr(made(), name):
            lacking.append(f"{path}.{name}")
    for path, name in PARAMETERS.items():
        if (function := _found(path)) is None or name not in inspect.signature(function).parameters:
            lacking.append(f"{path}({name})")
    return [path.partition(":")[2] for path in lacking]


@functools.cache
def usable() -> bool:
    """Return whether no name is missing. Otherwise, the logger ``hopless`` reports the missing names once."""
    import asgiref
    import django

    if lacking := missing():
        logging.getLogger("hopless").warning(
            "Django %s with asgiref %s lacks %s: Django's own ASGI application and middleware are used",
            django.__version__,
            asgiref.__version__,
            ", ".join(lacking),
        )
    return not lacking


def receivers(signal: Signal, sender: Any) -> tuple[list[Any], list[Any]]:
    """Return the synchronous and the asynchronous receivers of a signal from ``sender``."""
    synchronous, asynchronous = signal._live_receivers(sender)
    return synchronous, asynchronous


def closes_nothing(response: HttpResponseBase) -> bool:
    """Return whether ``response.close()`` runs only Django's code, for a response without files.

    Django's code closes the request, and sends the signal ``request_finished``.
    """
    close = getattr(response.close, "__func__", None)
    return close is HttpResponseBase.close and len(response._resource_closers) <= 1


def close_unsent(response: HttpResponseBase) -> None:
    """Close the response as ``response.close()`` does, without ``request_finished``."""
    for close in response._resource_closers:
        with contextlib.suppress(Exception):
            close()
    response._resource_closers.clear()
    response.closed = True


def nothing_is_initialised() -> bool:
    """Return whether this asynchronous task has created no database connection and no cache, not even unused objects.

    ``all(initialized_only=True)`` of ``connections`` and ``caches`` returns the same result, but takes longer than
    closing a response. asgiref 3.12, for Python 3.10, has other names. With this version, the result is always False.
    """
    try:
        storages = (connections._connections._get_storage(), caches._connections._storage)
        return not any(storage._storage().data for storage in storages)
    except AttributeError:
        return False


def connections_of_thread() -> dict[str, Any]:
    """Return the database connections that this thread has created, by alias. Call this in a thread without a loop.

    Django's ``connections.all(initialized_only=True)`` also returns the connections, but takes three microseconds.
    """
    try:
        found: dict[str, Any] = vars(connections._connections._storage).copy()
    except AttributeError:  # another asgiref
        return {connection.alias: connection for connection in connections.all(initialized_only=True)}
    found.pop("cvar", None)  # set by asgiref if a view has run an event loop in this thread
    return found


def is_open(connection: Any) -> bool:
    """Return whether a database connection is open. An unknown connection counts as open."""
    return getattr(connection, "connection", True) is not None


def is_clean(connection: Any) -> bool:
    """Return whether a database connection is outside any transaction, as a request expects."""
    if getattr(connection, "in_atomic_block", False) or getattr(connection, "closed_in_transaction", False):
        return False
    if not is_open(connection) or not hasattr(connection, "autocommit"):
        return True
    return bool(connection.autocommit == connection.settings_dict["AUTOCOMMIT"])


def forget_closed_connections() -> None:
    """Remove this thread's connection objects whose connection is closed.

    A connection object may hold the state of a request, such as a tenant. After the removal, the next request gets a
    new object, as in a new thread.
    """
    for alias, connection in connections_of_thread().items():
        if not is_open(connection) and is_clean(connection):
            del connections[alias]


def user_is_loaded(request: HttpRequest) -> bool:
    """Return whether the user of a request is already loaded. If this is unknown, return False."""
    return hasattr(request, "_cached_user")


def csrf_is_checked(request: HttpRequest) -> bool:
    """Return whether the CSRF token of a request was already checked. If this is unknown, return False."""
    return bool(getattr(request, "csrf_processing_done", False))


def messages_wait(storage: Any) -> bool:
    """Return whether a message storage has changes to write. If this is unknown, return True."""
    return bool(getattr(storage, "used", True) or getattr(storage, "added_new", True))


def language_is_loaded(language: str) -> bool:
    """Return whether the catalogue of a language is already loaded."""
    return language in trans_real._translations


def thread_sensitive_context() -> Any:
    """Return the current thread-sensitive context, or None."""
    return SyncToAsync.thread_sensitive_context.get(None)


def caller_has_a_thread() -> bool:
    """Return whether the caller of the application has chosen a thread for synchronous code."""
    if SyncToAsync.thread_sensitive_context.get(None) is not None:
        return True
    if _executors is not None and _executors.get(None) is None:
        return False
    return getattr(AsyncToSync.executors, "current", None) is not None


def forget_cancelled_calls() -> None:
    """Send the following synchronous code to the request's own thread.

    If a request is cancelled while ``async_to_sync`` waits in a thread, asgiref copies the executor of that call to the
    task. This executor has ended and refuses work.
    """
    AsyncToSync.executors.current = None


def enter_context(thread: Any) -> Any:
    """Use a thread-sensitive context, which is its own executor, for the code that follows.

    ``ThreadSensitiveContext(executor=...)`` of asgiref does the same, but refuses tasks that outlive their request.
    Such tasks work with Django's own context, and with this function.

    Returns:
        The token for ``leave_context``.
    """
    token = SyncToAsync.thread_sensitive_context.set(thread)
    SyncToAsync.context_to_thread_executor[thread] = thread
    return token


def leave_context(thread: Any, token: Any) -> None:
    """Undo ``enter_context``."""
    SyncToAsync.context_to_thread_executor.pop(thread, None)
    SyncToAsync.thread_sensitive_context.reset(token)
