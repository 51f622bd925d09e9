"""Create Django's own ASGI application for a project without an asgi.py.

Servers find this module through PYTHONPATH.
"""

import importlib
import os

if "DJANGO_CONFIGURATION" in os.environ:
    importlib.import_module("configurations.importer").install()

from django.core.asgi import get_asgi_application

application = get_asgi_application()
