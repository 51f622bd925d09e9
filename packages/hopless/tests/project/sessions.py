"""Define a session engine and a message storage that aren't part of Django."""

from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.sessions.backends import db


class SessionStore(db.SessionStore):
    """A subclass, so that the session engine isn't Django's."""


class Messages(FallbackStorage):
    """A subclass, so that the message storage isn't Django's."""
