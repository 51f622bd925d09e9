"""Load the project's own ASGI application, but with the application of hopless instead of Django's.

Servers find this module through PYTHONPATH.
"""

import importlib
import os
from typing import Any

import hopless
from django.core import asgi

djangos = asgi.get_asgi_application


def get_asgi_application() -> Any:
    asgi.get_asgi_application = djangos  # hopless itself calls Django's function
    try:
        return hopless.get_asgi_application()
    finally:
        asgi.get_asgi_application = get_asgi_application


asgi.get_asgi_application = get_asgi_application
module, _, name = os.environ["SERVED_WITH_HOPLESS"].partition(":")
application = getattr(importlib.import_module(module), name)
