"""Test the predicates that decide whether a hook of Django's middleware can block.

A hook that can block must run in a thread. The tests must also detect a predicate that wrongly claims that a hook can't
block.
"""

import asyncio
import threading
from unittest import mock

import pytest
from django.test import override_settings
from django.utils.module_loading import import_string
from django.utils.translation import trans_real
from hopless import get_asgi_application, middleware

from tests.conftest import ask
from tests.project.settings import SEVEN

FORM = {"method": "POST", "headers": [(b"content-type", b"application/x-www-form-urlencoded")], "body": b"a=1"}
GZIP = {"headers": [(b"accept-encoding", b"gzip")]}
FOREIGN = {"SESSION_ENGINE": "tests.project.sessions"}
STORAGE = {"MESSAGE_STORAGE": "tests.project.sessions.Messages"}
IN_SESSIONS = {"CSRF_USE_SESSIONS": True}
# Conditions in which a hook blocks: the name of the middleware and its hook, settings, a path, and options of the
# request.
SEEN = [
    ("LoginRequiredMiddleware:view", {}, "/async/ok/", {}),
    ("FlatpageFallbackMiddleware:response", {}, "/nothing/", {}),
    ("RedirectFallbackMiddleware:response", {}, "/nothing/", {}),
    ("BrokenLinkEmailsMiddleware:response", {}, "/nothing/", {}),
    ("MessageMiddleware:request", STORAGE, "/async/ok/", {}),
    ("MessageMiddleware:response", STORAGE, "/async/ok/", {}),
    ("MessageMiddleware:response", {}, "/message/", {}),
    ("SessionMiddleware:request", FOREIGN, "/async/ok/", {}),
    ("SessionMiddleware:response", FOREIGN, "/async/ok/", {}),
    ("SessionMiddleware:response", {}, "/async/session/", {}),
    ("SessionMiddleware:response", {"SESSION_SAVE_EVERY_REQUEST": True}, "/async/ok/", {}),
    ("CsrfViewMiddleware:request", IN_SESSIONS, "/async/ok/", {}),
    ("CsrfViewMiddleware:view", {}, "/async/post/", FORM),
    ("CsrfViewMiddleware:response", IN_SESSIONS, "/token/", {}),
    ("GZipMiddleware:response", {}, "/large/", GZIP),
    ("ConditionalGetMiddleware:response", {}, "/large/", {}),
    ("LocaleMiddleware:request", {}, "/async/ok/", {}),
]
PATHS = {path.rpartition(".")[2]: path for path in middleware.KNOWN}


def ran_in_the_loop(hook, settings, path, options, predicates=None):
    """Send a request, and return whether the hook ran in the event loop's thread."""
    name, _, of = hook.partition(":")
    original = import_string(PATHS[name])
    method, threads = getattr(original, f"process_{of}"), []

    def record(self, *args):
        threads.append(threading.current_thread())
        return method(self, *args)

    chain = SEVEN if PATHS[name] in SEVEN else [*SEVEN, PATHS[name]]
    known = {**middleware.KNOWN, **({} if predicates is None else {PATHS[name]: predicates})}
    with (
        override_settings(**{"MIDDLEWARE": chain, **settings}),
        mock.patch.object(original, f"process_{of}", record),
        mock.patch.dict(trans_real._translations, clear=True),
        mock.patch.dict(middleware.KNOWN, known),
    ):
        middleware.known.cache_clear()
        try:
            asyncio.run(ask(get_asgi_application(), path, **options))
        finally:
            middleware.known.cache_clear()
    assert len(threads) == 1
    return threads[0] is threading.current_thread()


def test_all_predicates_are_tested():
    predicates = {f"{PATHS[name]}:{of}" for name, _, of in (seen[0].partition(":") for seen in SEEN)}
    assert predicates == {
        f"{path}:{of}"
        for path, hooks in middleware.KNOWN.items()
        for of, blocks in hooks.items()
        if blocks is not middleware.never
    }


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: f"{seen[0]} {seen[2]} {' '.join(seen[1])}".strip())
def test_blocking_hook_runs_in_thread(seen):
    hook = seen[0]
    name, _, of = hook.partition(":")
    assert not ran_in_the_loop(*seen)
    assert ran_in_the_loop(*seen, predicates={**middleware.KNOWN[PATHS[name]], of: middleware.never})


NOT_SEEN = [
    ("MessageMiddleware:response", {}, "/async/ok/", {}),
    ("SessionMiddleware:response", {}, "/async/ok/", {}),
    ("CsrfViewMiddleware:view", {}, "/async/ok/", {}),
    ("GZipMiddleware:response", {}, "/large/", {}),
    ("ConditionalGetMiddleware:response", {}, "/async/ok/", GZIP),
    ("BrokenLinkEmailsMiddleware:response", {}, "/async/ok/", {}),
]


@pytest.mark.parametrize("seen", NOT_SEEN, ids=lambda seen: f"{seen[0]} {seen[2]}")
def test_other_hooks_run_in_event_loop(seen):
    assert ran_in_the_loop(*seen)
