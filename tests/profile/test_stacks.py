"""Test frames from the sampler's output, and the categories of stacks."""

import pytest

from loadtests.profile.classify import Category, category
from loadtests.profile.stacks import INSTALLED, PROJECT, STANDARD, Frame, Reader


@pytest.mark.parametrize(
    ("path", "file", "origin"),
    [
        ("/srv/env/lib/python3.12/site-packages/django/urls/base.py", "django/urls/base.py", INSTALLED),
        ("/usr/lib/python3/dist-packages/gunicorn/app.py", "gunicorn/app.py", INSTALLED),
        ("/usr/lib/python3.11/asyncio/events.py", "asyncio/events.py", STANDARD),
        ("/srv/site/shop/views.py", "shop/views.py", PROJECT),
        ("<frozen runpy>", "<frozen runpy>", STANDARD),
        ("/srv/env/bin/gunicorn", "bin/gunicorn", STANDARD),
        ("/elsewhere/deep/down/tool.py", "down/tool.py", PROJECT),
    ],
)
def test_paths_omit_machine_folders(path, file, origin):
    assert Reader("/srv/site").frame("f", path) == Frame("f", file, origin)


HANDLER = "_get_response django/core/handlers/base.py"
SYNC_VIEW = ("run lib:concurrent/futures/thread.py", "thread_handler asgiref/sync.py")
LOOP = ("run lib:asyncio/runners.py",)


@pytest.mark.parametrize(
    ("expected", "texts"),
    [
        (Category.NATIVE, []),
        (Category.SERVER, ["main bin/gunicorn", "handle gunicorn/workers/sync.py"]),
        (Category.SERVER, [*LOOP, "_run_once lib:asyncio/base_events.py", "select lib:selectors.py"]),
        (Category.ADAPTATION, ["run_wsgi waitress/task.py", "__call__ django/core/handlers/wsgi.py"]),
        (Category.ADAPTATION, [HANDLER, "__init__ django/http/request.py"]),
        (Category.URLS, [HANDLER, "resolve_request django/core/handlers/base.py"]),
        (Category.URLS, [HANDLER, "resolve django/urls/resolvers.py", "__get__ django/utils/functional.py"]),
        (Category.HOPS, [HANDLER, "__call__ asgiref/sync.py", "submit lib:concurrent/futures/thread.py"]),
        (Category.HOPS, [*LOOP, "_call_set_state lib:asyncio/futures.py"]),
        (Category.HOPS, ["__call__ asgiref/sync.py", "__getattr__ asgiref/local.py"]),
        (Category.HOPS, [*LOOP, "submit hopless/threads.py", "put lib:queue.py"]),
        (Category.MIDDLEWARE, [*LOOP, "__call__ hopless/handler.py", "__acall__ hopless/middleware.py"]),
        (
            Category.ADAPTATION,
            [*LOOP, "run_asgi uvicorn/protocols/http/httptools_impl.py", "__call__ hopless/handler.py"],
        ),
        (Category.MIDDLEWARE, [HANDLER, "__call__ whitenoise/middleware.py", "find whitenoise/base.py"]),
        (Category.MIDDLEWARE, [*SYNC_VIEW, "process_request django/contrib/sessions/middleware.py"]),
        (Category.MIDDLEWARE, [HANDLER, "__call__ app:shop/middleware.py", "loads lib:json/__init__.py"]),
        (Category.VIEW, [HANDLER, "ok app:endpoints/plain.py", "__init__ django/http/response.py"]),
        (Category.VIEW, [*SYNC_VIEW, "ok app:endpoints/plain.py", "dumps lib:json/__init__.py"]),
        (Category.VIEW, [*SYNC_VIEW, "dispatch rest_framework/views.py"]),
        (Category.VIEW, [HANDLER, "login django/contrib/auth/views.py"]),
        (Category.TEMPLATE, [HANDLER, "page app:shop/views.py", "render django/template/base.py"]),
        (Category.DATABASE, ["render django/template/base.py", "execute django/db/backends/utils.py"]),
        (Category.LAYER, [*LOOP, "send channels_ipc/core.py", "put lmdb/cffi.py"]),
        (Category.OTHER, ["<module> lib:runpy.py"]),
        (Category.OTHER, [HANDLER, "send django/dispatch/dispatcher.py", "__call__ app:endpoints/counting.py"]),
    ],
)
def test_stack_has_a_category(stack, expected, texts):
    assert category(stack(*texts)) is expected
