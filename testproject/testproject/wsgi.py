"""Serve the project, or an application without Django, through WSGI."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
if os.environ.get("APPLICATION") == "bare":
    from testproject.bare import wsgi as application
else:
    from django.core.wsgi import get_wsgi_application

    application = get_wsgi_application()
