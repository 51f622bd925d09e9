"""A session engine and a message storage that are not Django's own."""

from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.sessions.backends import db


class SessionStore(db.SessionStore):
    """Of this module, so of another engine."""


class Messages(FallbackStorage):
    """Of this module, so another storage."""
