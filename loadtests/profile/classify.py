"""Find the category of a stack: the category of its **innermost** frame that has a category.

docs/profiling.rst explains the categories. The time in frames without a category (the standard library, helpers like
``django.utils`` and ``django.http``) belongs to their callers. For example, if a middleware builds a dictionary, the
time belongs to the middleware.
"""

from __future__ import annotations

import enum

from loadtests.profile.stacks import INSTALLED, PROJECT, STANDARD, Frame, Stack


class Category(enum.Enum):
    """The categories of CPU time, in the order in which a request passes through them."""

    SERVER = "server"
    ADAPTATION = "ASGI/WSGI adaptation"
    HOPS = "thread hops"
    MIDDLEWARE = "middleware"
    URLS = "URL resolving"
    VIEW = "view"
    TEMPLATE = "template"
    DATABASE = "database and cache"
    LAYER = "channel layer"
    OTHER = "other"
    NATIVE = "outside Python"


# The first matching rule counts. The strings are prefixes of a file's path below site-packages or the project's folder.
_INSTALLED: tuple[tuple[tuple[str, ...], Category | None], ...] = (
    (("asgiref/sync.py", "asgiref/current_thread_executor.py"), Category.HOPS),
    (("asgiref/local.py",), None),
    (("hopless/threads.py",), Category.HOPS),
    (("hopless/middleware.py",), Category.MIDDLEWARE),
    (("hopless/",), Category.ADAPTATION),
    (("asgiref/",), Category.ADAPTATION),
    (("django/core/handlers/", "channels/routing.py", "channels/consumer.py"), Category.ADAPTATION),
    (("django/utils/deprecation.py",), Category.MIDDLEWARE),  # MiddlewareMixin
    (("django/urls/",), Category.URLS),
    (("django/views/",), Category.VIEW),
    (("django/template/", "django/templatetags/", "jinja2/", "markupsafe/"), Category.TEMPLATE),
    (
        ("django/db/", "django/core/cache/", "psycopg", "MySQLdb/", "pymysql/", "oracledb/", "aiosqlite/", "asyncpg/"),
        Category.DATABASE,
    ),
    (("channels/", "channels_redis/", "channels_ipc/"), Category.LAYER),
)
_SERVERS = (
    "autobahn", "bjoern", "daphne", "eventlet", "gevent", "granian", "greenlet", "gunicorn", "h11", "h2", "hpack",
    "httptools", "hypercorn", "mod_wsgi", "priority", "twisted", "txaio", "uvicorn", "uvicorn_worker", "uvloop",
    "uwsgi", "uwsgidecorators", "waitress", "websockets", "wsproto", "zope",
)  # fmt: skip
_STANDARD: tuple[tuple[tuple[str, ...], Category | None], ...] = (
    (("concurrent/futures/", "threading.py", "queue.py"), Category.HOPS),
    (
        (
            "asyncio/base_events.py", "asyncio/events.py", "asyncio/runners.py", "asyncio/selector_events.py",
            "asyncio/transports.py", "asyncio/unix_events.py", "asyncio/sslproto.py", "selectors.py", "socketserver.py",
            "wsgiref/", "http/server.py",
        ),
        Category.SERVER,
    ),
    (("sqlite3/",), Category.DATABASE),
)  # fmt: skip

# The functions of asyncio that pass a result from one thread to another.
_ASYNCIO_HOPS = {
    "call_soon_threadsafe", "run_in_executor", "wrap_future", "_call_set_state", "_call_check_cancel", "_chain_future",
    "_copy_future_state", "_set_state", "_write_to_self", "_read_from_self", "_process_self_data",
    "shutdown_default_executor",
}  # fmt: skip
_PROJECT: tuple[tuple[tuple[str, ...], Category | None], ...] = (
    (("channels_relay/",), Category.LAYER),
    (("endpoints/counting.py",), Category.OTHER),  # the benchmark's own code in the sample project
)


def category(stack: Stack) -> Category:
    """Return the category of a stack. A stack without frames is outside Python."""
    if not stack:
        return Category.NATIVE
    unknown = False
    for frame in reversed(stack):
        found = _of(frame)
        if found is None:
            unknown = unknown or _is_unknown_package(frame)
            continue
        # If Django's handler called an unknown package, the package is part of a view.
        return Category.VIEW if unknown and found in (Category.ADAPTATION, Category.HOPS) else found
    return Category.OTHER


def _of(frame: Frame) -> Category | None:
    name = frame.name.rpartition(".")[2]
    if frame.origin == STANDARD:
        if frame.file.startswith("asyncio/") and name in _ASYNCIO_HOPS:
            return Category.HOPS
        return _match(frame.file, _STANDARD)
    if frame.origin == INSTALLED and frame.file.partition("/")[0].removesuffix(".py") in _SERVERS:
        return Category.SERVER
    if frame.file == "django/core/handlers/base.py" and name == "resolve_request":
        return Category.URLS
    found = _match(frame.file, _INSTALLED if frame.origin == INSTALLED else _PROJECT)
    if found is not None:
        return found
    if "middleware" in frame.file.lower():
        return Category.MIDDLEWARE
    return Category.VIEW if frame.origin == PROJECT else None


def _match(file: str, rules: tuple[tuple[tuple[str, ...], Category | None], ...]) -> Category | None:
    return next((found for beginnings, found in rules if file.startswith(beginnings)), None)


def _is_unknown_package(frame: Frame) -> bool:
    """Return whether a frame is in an installed package without a rule, but not in asgiref or Django's core."""
    helper = frame.file.startswith(("django/", "asgiref/")) and not frame.file.startswith("django/contrib/")
    return frame.origin == INSTALLED and not helper
