"""Used tokens: an entry each in the store of the sessions, for as long as the token is valid.

Creating an entry fails where there is one, in every store, so of two requests with one token one is refused. Signed
cookies have no store; there it is the database. An entry is a session of that store, so its key must be secret: with a
cookie of it, signing in would delete it, and the token would be valid again.
"""

import importlib

from django.conf import settings
from django.contrib.sessions.backends.base import CreateError, SessionBase
from django.utils.crypto import salted_hmac

from questionnaire.tokens import GOOD_FOR_S, Refused, Ticket

COOKIES = "django.contrib.sessions.backends.signed_cookies"
DATABASE = "django.contrib.sessions.backends.db"
TWICE = "This link has been used already."


def use(ticket: Ticket) -> None:
    """Notes the use of a token. Raises Refused for the second."""
    entry = _entry(ticket)
    entry.clear()  # nothing is to be loaded
    entry.set_expiry(GOOD_FOR_S)
    try:
        entry.save(must_create=True)
    except CreateError:
        raise Refused(TWICE) from None


def _entry(ticket: Ticket) -> SessionBase:
    engine = DATABASE if settings.SESSION_ENGINE == COOKIES else settings.SESSION_ENGINE
    return importlib.import_module(engine).SessionStore(salted_hmac("questionnaire.used", ticket.id).hexdigest())
