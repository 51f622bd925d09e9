"""Names of Django's and asgiref's that are not public, and that this package needs.

They are here and nowhere else. Tested on Django 5.2 and 6.1, and asgiref 3.13. Where one is missing, in a version to
come, ``missing`` names it, and ``get_asgi_application`` gives Django's own handler.
"""

from __future__ import annotations

import contextlib
from typing import Any

from asgiref.sync import SyncToAsync
from django.core.cache import caches
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.dispatch import Signal
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import trans_real

HANDLER = (
    "load_middleware",
    "read_body",
    "create_request",
    "run_get_response",
    "send_response",
    "listen_for_disconnect",
)


def missing() -> list[str]:
    """The names that this version of Django or asgiref does not have. Needs configured settings."""
    needed = {
        **{f"ASGIHandler.{name}": hasattr(ASGIHandler, name) for name in HANDLER},
        "MiddlewareMixin.__acall__": hasattr(MiddlewareMixin, "__acall__"),
        "Signal._live_receivers": hasattr(Signal, "_live_receivers"),
        "Signal.receivers": hasattr(Signal(), "receivers"),
        "HttpResponse._resource_closers": hasattr(HttpResponse(), "_resource_closers"),
        "trans_real._translations": hasattr(trans_real, "_translations"),
        "SyncToAsync.thread_sensitive_context": hasattr(SyncToAsync, "thread_sensitive_context"),
        "SyncToAsync.context_to_thread_executor": hasattr(SyncToAsync, "context_to_thread_executor"),
    }
    return [name for name, there in needed.items() if not there]


def receivers(signal: Signal, sender: Any) -> tuple[list[Any], list[Any]]:
    """The synchronous and the asynchronous receivers that a signal from ``sender`` reaches."""
    synchronous, asynchronous = signal._live_receivers(sender)
    return synchronous, asynchronous


def closes_nothing(response: HttpResponseBase) -> bool:
    """Whether ``response.close()`` runs no code but Django's own for a response without files: the closer of the
    request, and ``request_finished``."""
    close = getattr(response.close, "__func__", None)
    return close is HttpResponseBase.close and len(response._resource_closers) <= 1


def close_unsent(response: HttpResponseBase) -> None:
    """What ``response.close()`` does, but for sending ``request_finished``."""
    for close in response._resource_closers:
        with contextlib.suppress(Exception):
            close()
    response._resource_closers.clear()
    response.closed = True


def nothing_is_initialised() -> bool:
    """Whether this asynchronous task has made neither a database connection nor a cache, used or not.

    ``all(initialized_only=True)`` of both says the same, and costs more than closing a response does. asgiref 3.12, for
    Python 3.10, has other names: there the answer is no.
    """
    try:
        storages = (connections._connections._get_storage(), caches._connections._storage)
        return not any(storage._storage().data for storage in storages)
    except AttributeError:
        return False


def language_is_loaded(language: str) -> bool:
    """Whether the catalogue of a language has been read from its files already."""
    return language in trans_real._translations


def enter_context(thread: Any) -> Any:
    """Makes a thread-sensitive context, which is its own executor, that of the code to come. Returns what leaves it.

    asgiref's ``ThreadSensitiveContext(executor=...)`` does the same, and refuses tasks that outlive their request. With
    Django's own context they go on, in a thread of their own, and so they do with this.
    """
    token = SyncToAsync.thread_sensitive_context.set(thread)
    SyncToAsync.context_to_thread_executor[thread] = thread
    return token


def leave_context(thread: Any, token: Any) -> None:
    """The end of ``enter_context``."""
    SyncToAsync.context_to_thread_executor.pop(thread, None)
    SyncToAsync.thread_sensitive_context.reset(token)
