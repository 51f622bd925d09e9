"""Run the hooks of Django's own middleware in the event loop when they can't block, and otherwise in a thread.

For example, ``hopless.middleware.SessionMiddleware`` is a subclass of Django's class. A predicate for each hook returns
whether a call may block. ``get_asgi_application`` uses these subclasses instead of Django's classes. If you can't
change asgi.py, add the subclasses to MIDDLEWARE. If a project's subclass overrides Django's methods, its hooks always
run in a thread.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.messages import get_messages
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin
from django.utils.module_loading import import_string
from django.utils.translation import get_language_from_request

from hopless import private

Predicate = Callable[..., bool]

SESSION_ENGINES = {
    f"django.contrib.sessions.backends.{name}" for name in ("cache", "cached_db", "db", "file", "signed_cookies")
}
MESSAGE_STORAGES = {
    f"django.contrib.messages.storage.{name}"
    for name in ("cookie.CookieStorage", "fallback.FallbackStorage", "session.SessionStorage")
}
METHODS_WITHOUT_CSRF = {"GET", "HEAD", "OPTIONS", "TRACE"}  # RFC 9110, section 9.2.1.
SHORT_BODY = 2**16  # Bytes. Hashing this number of bytes takes about as long as a hop.


def never(*_: Any) -> bool:
    """Return False, for a hook that never blocks."""
    return False


def always(*_: Any) -> bool:
    """Return True, for a hook that may block."""
    return True


def _session_request(request: HttpRequest) -> bool:
    return settings.SESSION_ENGINE not in SESSION_ENGINES


def _session_response(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Check whether the session may have to be saved in a store. Signed cookies are saved in the response itself."""
    session = getattr(request, "session", None)
    if session is None:
        return False
    engine = type(session).__module__
    if engine not in SESSION_ENGINES:
        return True
    changed = session.modified or settings.SESSION_SAVE_EVERY_REQUEST
    return bool(changed) and not engine.endswith(".signed_cookies")


def _csrf_in_session(request: HttpRequest, response: Any = None) -> bool:
    return bool(settings.CSRF_USE_SESSIONS)


def _csrf_view(request: HttpRequest, callback: Any, args: Any, kwargs: Any) -> bool:
    """Check whether the token must be compared.

    The comparison reads the request's body, and a failure renders a page.
    """
    unchecked = private.csrf_is_checked(request) or getattr(callback, "csrf_exempt", False)
    return not unchecked and request.method not in METHODS_WITHOUT_CSRF


def _messages_request(request: HttpRequest) -> bool:
    return settings.MESSAGE_STORAGE not in MESSAGE_STORAGES


def _messages_response(request: HttpRequest, response: HttpResponseBase) -> bool:
    storage = get_messages(request)
    if isinstance(storage, list):  # the message middleware has not created a storage
        return False
    name = f"{type(storage).__module__}.{type(storage).__qualname__}"
    return bool(name not in MESSAGE_STORAGES or private.messages_wait(storage))


def _login_view(request: HttpRequest, callback: Any, args: Any, kwargs: Any) -> bool:
    """Check whether the session must be read to find the user, because the user isn't loaded yet."""
    return not private.user_is_loaded(request)


def _locale_request(request: HttpRequest) -> bool:
    return not private.language_is_loaded(get_language_from_request(request, check_path=True))


def _gzip_response(request: HttpRequest, response: Any) -> bool:
    accepted = "gzip" in request.META.get("HTTP_ACCEPT_ENCODING", "")
    # shorter responses are never compressed
    return bool(accepted and not response.streaming and len(response.content) >= 200)


def _hashes_much(request: HttpRequest, response: Any) -> bool:
    return bool(not response.streaming and len(response.content) > SHORT_BODY)


def _not_found(request: HttpRequest, response: HttpResponseBase) -> bool:
    return bool(response.status_code == 404)


# For each of Django's middleware, the predicates of its hooks, which return whether a call of the hook may block. A
# hook without a predicate runs in a thread.
KNOWN: dict[str, Mapping[str, Predicate]] = {
    "django.contrib.auth.middleware.AuthenticationMiddleware": {"request": never},
    "django.contrib.auth.middleware.LoginRequiredMiddleware": {"view": _login_view},
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware": {"response": _not_found},
    "django.contrib.messages.middleware.MessageMiddleware": {
        "request": _messages_request,
        "response": _messages_response,
    },
    "django.contrib.redirects.middleware.RedirectFallbackMiddleware": {"response": _not_found},
    "django.contrib.sessions.middleware.SessionMiddleware": {
        "request": _session_request,
        "response": _session_response,
    },
    "django.middleware.clickjacking.XFrameOptionsMiddleware": {"response": never},
    "django.middleware.common.BrokenLinkEmailsMiddleware": {"response": _not_found},
    "django.middleware.common.CommonMiddleware": {"request": never, "response": never},
    "django.middleware.csp.ContentSecurityPolicyMiddleware": {"request": never, "response": never},  # Django 6.0
    "django.middleware.csrf.CsrfViewMiddleware": {
        "request": _csrf_in_session,
        "view": _csrf_view,
        "response": _csrf_in_session,
    },
    "django.middleware.gzip.GZipMiddleware": {"response": _gzip_response},
    "django.middleware.http.ConditionalGetMiddleware": {"response": _hashes_much},
    "django.middleware.locale.LocaleMiddleware": {"request": _locale_request, "response": never},
    "django.middleware.security.SecurityMiddleware": {"request": never, "response": never},
}
_PATHS = {path.rpartition(".")[2]: path for path in KNOWN}


class HopsToBlock(MiddlewareMixin):  # type: ignore[misc]
    """Run the hooks of a middleware of Django in the event loop if their predicate in ``blocks`` returns False.

    Other hooks, and hooks without a predicate, run in a thread.
    """

    blocks: Mapping[str, Predicate] = {}
    of_django: type

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "of_django" in vars(cls):
            return
        theirs = [one for one in cls.__mro__[: cls.__mro__.index(cls.of_django)] if one is not HopsToBlock]
        changed = {name for one in theirs if "of_django" not in vars(one) for name in vars(one)}
        of_django = {name for one in cls.of_django.__mro__[:-1] for name in vars(one) if not name.startswith("__")}
        if changed & of_django:
            cls.blocks = {}

    def __init__(self, get_response: Any) -> None:
        super().__init__(get_response)
        self._request = self._hook("request")
        self._response = self._hook("response")

    def _hook(self, name: str) -> tuple[Any, Predicate]:
        return getattr(self, f"process_{name}", None), self.blocks.get(name, always)

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        response = None
        hook, blocks = self._request
        if hook is not None:
            response = await sync_to_async(hook)(request) if blocks(request) else hook(request)
        response = response or await self.get_response(request)
        hook, blocks = self._response
        if hook is not None:
            response = (
                await sync_to_async(hook)(request, response) if blocks(request, response) else hook(request, response)
            )
        return response


@functools.cache
def known(path: str) -> type:
    """Return the class that replaces Django's middleware at ``path``, which must be in KNOWN.

    If this version of Django lacks a name that the class needs, return Django's class. Exceptions during the import
    propagate.
    """
    original: type = import_string(path)
    if not private.usable():
        return original
    values = {"blocks": KNOWN[path], "of_django": original, "__module__": __name__, "__doc__": original.__doc__}
    return type(original.__name__, (HopsToBlock, original), values)


_loading = threading.RLock()


@contextlib.contextmanager
def instead_of_djangos() -> Iterator[None]:
    """Replace Django's classes in their modules while a handler imports settings.MIDDLEWARE.

    The settings still contain Django's names, and an agent that wraps imported classes finds the replacements.
    """
    with _loading, contextlib.ExitStack() as stack:
        for path in settings.MIDDLEWARE:
            # Import all modules first, because a project's subclass must have Django's class as its base. If an import
            # fails, Django raises the exception again, with its own message.
            with contextlib.suppress(Exception):
                import_string(path)
        for path in set(settings.MIDDLEWARE).intersection(KNOWN):
            module, _, name = path.rpartition(".")
            with contextlib.suppress(Exception):
                djangos, ours = import_string(path), known(path)
                setattr(importlib.import_module(module), name, ours)
                stack.callback(setattr, importlib.import_module(module), name, djangos)
        yield


def ask_predicate(hook: Any) -> Any:
    """Return a process_view hook that runs in the event loop if its predicate allows it.

    Django wraps ``process_view`` while it loads the middleware, and a monitoring agent may have wrapped it before, so
    the attribute of the middleware must remain synchronous.

    Args:
        hook: The asynchronous function that Django calls before a view.
    """
    wrapped = hook
    while wrapped is not None:
        middleware = getattr(wrapped, "__self__", None)
        if isinstance(middleware, HopsToBlock):
            break
        wrapped = getattr(wrapped, "__wrapped__", None)
    else:
        return hook
    blocks: Predicate = middleware.blocks.get("view", always)
    synchronous = getattr(hook, "__wrapped__", None)
    if blocks is always or synchronous is None:
        return hook

    async def process_view(*args: Any) -> Any:
        return await hook(*args) if blocks(*args) else synchronous(*args)

    return process_view


def __getattr__(name: str) -> type:
    if name in _PATHS:
        return known(_PATHS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
