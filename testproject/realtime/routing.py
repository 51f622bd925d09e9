"""Route paths to consumers."""

from django.urls import re_path

from . import consumers
from .words import ROOM

routes = [
    re_path(r"^ws/echo/$", consumers.Echo.as_asgi()),
    re_path(rf"^ws/rooms/{ROOM}/$", consumers.Room.as_asgi()),
    re_path(rf"^ws/publish/{ROOM}/$", consumers.Publish.as_asgi()),
    # For all other paths. Without a route, Channels raises an error, and some servers answer 500.
    re_path(r"", consumers.Refused.as_asgi()),
]
