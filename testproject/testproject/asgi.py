"""Django through ASGI, in the server's own process."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
application = get_asgi_application()
