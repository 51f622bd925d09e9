"""Define a session engine and a message storage outside Django."""

from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.sessions.backends import db


class SessionStore(db.SessionStore):
    """Belong to this module, so the engine is not Django's."""


class Messages(FallbackStorage):
    """Belong to this module, so the storage is not Django's."""
