"""Serve HTTP with Django, and socket.io with python-socketio."""

import os

import socketio
from django.core.asgi import get_asgi_application
from realtime.events import server

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
http = get_asgi_application()


async def other_paths(scope, receive, send):
    """Handle other paths: HTTP with Django, and WebSockets with a 403, because Django doesn't support them."""
    if scope["type"] == "http":
        await http(scope, receive, send)
    elif scope["type"] == "websocket":
        await send({"type": "websocket.close"})


application = socketio.ASGIApp(server, other_paths)
