"""Serve HTTP with Django, and WebSockets with an application without Channels."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
http = get_asgi_application()

from realtime.bare import websocket  # noqa: E402  (needs the settings)


async def application(scope, receive, send):
    await (websocket if scope["type"] == "websocket" else http)(scope, receive, send)
