"""Which tokens were used: an entry each in the store that the sessions are in, for as long as the token is good.

Making an entry fails where there is one, whatever the store, so that of two requests with one token one is refused.
Signed cookies have no store; there it is the database.

An entry is a session of that store, so nobody may know its key: with a cookie of it, signing in would delete it as the
session that one had, and the token would be good again. The key is made of the token's id and the secret.
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


async def ause(ticket: Ticket) -> None:
    """The same from a coroutine."""
    entry = _entry(ticket)
    entry.clear()
    await entry.aset_expiry(GOOD_FOR_S)
    try:
        await entry.asave(must_create=True)
    except CreateError:
        raise Refused(TWICE) from None


def _entry(ticket: Ticket) -> SessionBase:
    engine = DATABASE if settings.SESSION_ENGINE == COOKIES else settings.SESSION_ENGINE
    return importlib.import_module(engine).SessionStore(salted_hmac("questionnaire.used", ticket.id).hexdigest())
