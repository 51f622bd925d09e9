"""Route paths to consumers."""

from django.urls import re_path

from . import consumers
from .words import ROOM


def below(prefix, echo, room, publish):
    """Return the routes of the three endpoints for a kind of consumer."""
    return [
        re_path(rf"^{prefix}echo/$", echo.as_asgi()),
        re_path(rf"^{prefix}rooms/{ROOM}/$", room.as_asgi()),
        re_path(rf"^{prefix}publish/{ROOM}/$", publish.as_asgi()),
    ]


routes = [
    *below("ws/", consumers.Echo, consumers.Room, consumers.Publish),
    *below("ws/sync/", consumers.SyncEcho, consumers.SyncRoom, consumers.SyncPublish),
    *below("ws/json/", consumers.JsonEcho, consumers.JsonRoom, consumers.JsonPublish),
    # For all other paths. Without a route, Channels raises an error, and some servers answer 500.
    re_path(r"", consumers.Refused.as_asgi()),
]
