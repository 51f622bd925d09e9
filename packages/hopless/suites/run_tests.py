"""Run tests in which Django's synchronous test client uses asynchronous middleware.

``python run_tests.py stock|hopless|MUTANT runtests.py ARGUMENTS...`` runs Django's tests, in the folder ``tests`` of
its sdist. ``django test ARGUMENTS...`` instead of ``runtests.py ARGUMENTS...`` runs the tests of the project in the
current folder.

With ``hopless``, the classes of ``hopless.middleware`` replace Django's classes in all imports. The name
of a mutant consists of the path of a middleware and one of its hooks (``django...SessionMiddleware:response``). In the
mutant, the predicate of this hook claims that the hook never blocks. With ``whole-stock`` and ``whole-hopless``, the
test client uses a complete ASGI handler.
"""

from __future__ import annotations

import os
import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import django

SUITES = Path(__file__).resolve().parent
WHOLE = "whole-"


def force_asynchronous() -> None:
    """Let the synchronous test client load and call the middleware like an ASGI handler."""
    from asgiref.sync import async_to_sync
    from django.core.handlers.base import BaseHandler
    from django.test.client import ClientHandler

    def load_middleware(self: Any, is_async: bool = False) -> None:
        BaseHandler.load_middleware(self, is_async=True)

    def get_response(self: Any, request: Any) -> Any:
        return async_to_sync(self.get_response_async)(request)

    ClientHandler.load_middleware = load_middleware
    ClientHandler.get_response = get_response


def substitute(mutant: str = "") -> None:
    """Replace Django's handler and middleware classes in their modules with the classes of ``hopless``."""
    from django.core import asgi
    from django.core.handlers import asgi as handlers
    from hopless import middleware
    from hopless.handler import Handler
    from hopless.threads import Threads

    class HandlerOfTests(Handler):
        """A handler without required arguments, because Django's tests pass no arguments."""

        def __init__(self) -> None:
            super().__init__(Threads(20))

    import_module("django.contrib.staticfiles.handlers")  # import the subclass before its base class is replaced
    asgi.ASGIHandler = handlers.ASGIHandler = HandlerOfTests
    if mutant:
        path, _, hook = mutant.partition(":")
        middleware.KNOWN[path] = {**middleware.KNOWN[path], hook: middleware.never}
    for path in middleware.KNOWN:
        module, _, name = path.rpartition(".")
        try:
            ours = middleware.known(path)
        except (ImportError, RuntimeError):  # Django lacks the class, or the app of the class isn't installed
            continue
        setattr(sys.modules[module], name, ours)


def send_through_handler(way: str) -> None:
    """Send the requests of the synchronous test client through a complete ASGI handler."""
    import whole_handler
    from django.contrib.auth.hashers import PBKDF2PasswordHasher
    from django.core.handlers.asgi import ASGIHandler

    PBKDF2PasswordHasher.iterations = 1  # because some tests would spend most of their time on password hashing
    if way == "stock":
        whole_handler.install(ASGIHandler, lambda handler: handler())
        return
    from hopless.handler import Handler
    from hopless.threads import Threads

    threads = Threads(20)
    whole_handler.install(Handler, lambda handler: handler(threads))


def main() -> None:
    way, program, *arguments = sys.argv[1:]
    setup = django.setup

    def setup_and_change(*args: Any, **kwargs: Any) -> None:
        setup(*args, **kwargs)
        django.setup = setup
        if way.startswith(WHOLE):
            send_through_handler(way.removeprefix(WHOLE))
            return
        force_asynchronous()
        if way != "stock":
            substitute("" if way == "hopless" else way)

    django.setup = setup_and_change
    sys.argv = [program, *arguments]
    sys.path[:1] = [os.getcwd(), str(SUITES), str(SUITES.parent)]
    if program in ("django", "pytest"):
        runpy.run_module(program, run_name="__main__")
    else:
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
