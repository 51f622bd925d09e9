"""Django through ASGI, in the server's own process; with ``HOPLESS``, through the package of that name.

``HOPLESS`` is ``1``, or a part of it: ``threads`` (kept threads alone), ``middleware`` (Django's middleware alone), or
``whole`` (also a synchronous view and all of its middleware in one thread).
"""

import os

from django.core.asgi import get_asgi_application

PARTS = {
    "1": {},
    "threads": {"substitute": False},
    "middleware": {"idle_threads": 0},
    "whole": {"whole": True},
}

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
if part := os.environ.get("HOPLESS"):
    import hopless

    application = hopless.get_asgi_application(**PARTS[part])
else:
    application = get_asgi_application()
