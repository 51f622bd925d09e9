"""Serve the project, or an application without Django, through ASGI in the process of the server."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
if os.environ.get("APPLICATION") == "bare":
    from testproject.bare import asgi as application
else:
    from testproject.hops import asgi_application

    application = asgi_application()
