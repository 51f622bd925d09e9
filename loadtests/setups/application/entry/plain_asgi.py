"""Django's own ASGI application, for a project that has no asgi.py. Found through PYTHONPATH."""

from django.core.asgi import get_asgi_application

application = get_asgi_application()
