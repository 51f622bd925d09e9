"""Which consumer answers which path."""

from django.urls import re_path

from . import consumers
from .words import ROOM


def below(prefix, echo, room, publish):
    """The three endpoints of one kind of consumer."""
    return [
        re_path(rf"^{prefix}echo/$", echo.as_asgi()),
        re_path(rf"^{prefix}rooms/{ROOM}/$", room.as_asgi()),
        re_path(rf"^{prefix}publish/{ROOM}/$", publish.as_asgi()),
    ]


routes = [
    *below("ws/", consumers.Echo, consumers.Room, consumers.Publish),
    *below("ws/sync/", consumers.SyncEcho, consumers.SyncRoom, consumers.SyncPublish),
    *below("ws/json/", consumers.JsonEcho, consumers.JsonRoom, consumers.JsonPublish),
    # All other paths, too: Channels raises an error where no route fits, which some servers answer with 500.
    re_path(r"", consumers.Refused.as_asgi()),
]
