"""Handle messages of Channels' consumers without a hop to a thread while no database connection is open.

Before a consumer handles a message, Channels closes old connections in a thread (channels pull request 2090). A
connection that isn't open can't be old.
"""

from __future__ import annotations

import logging
import threading
import weakref
from typing import Any

from django.db.backends.signals import connection_created

from hopless import private

_opened: weakref.WeakSet[Any] = weakref.WeakSet()
_lock = threading.Lock()


def install() -> None:
    """Let consumers hop only while a database connection is open. Call this in asgi.py, before the first request.

    If Channels lacks a required function, nothing changes, and the logger ``hopless`` logs a warning.
    """
    from channels import consumer, db

    close = getattr(db, "aclose_old_connections", None)
    if close is None or getattr(consumer, "aclose_old_connections", None) is None:
        logging.getLogger("hopless").warning(
            "channels lacks consumer.aclose_old_connections: its consumers are unchanged"
        )
        return
    connection_created.connect(_remember, dispatch_uid="hopless.consumers")

    async def aclose_old_connections() -> None:
        """Call Channels' function if a connection is open."""
        with _lock:
            is_open = any(map(private.is_open, _opened))
        if is_open:
            await close()

    consumer.aclose_old_connections = aclose_old_connections


def _remember(connection: Any, **_: Any) -> None:
    with _lock:
        _opened.add(connection)
