"""Serve Django through ASGI in the process of the server."""

import os

from testproject.hops import asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
application = asgi_application()
