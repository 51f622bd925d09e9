"""Record used tokens in the session store, for as long as each token is valid.

In each store, creating an entry fails if the entry exists, so only one of two requests with the same token can succeed.
Signed cookies don't have a store, so their entries are in the database. An entry is a session of the store, so its key
must be secret: signing in with the key as the cookie would delete the entry, and the token would be valid again.
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
    """Record the use of a token.

    Raises:
        Refused: If the token was used before.
    """
    entry = _entry(ticket)
    entry.clear()  # so that saving doesn't load the entry
    entry.set_expiry(GOOD_FOR_S)
    try:
        entry.save(must_create=True)
    except CreateError:
        raise Refused(TWICE) from None


def _entry(ticket: Ticket) -> SessionBase:
    engine = DATABASE if settings.SESSION_ENGINE == COOKIES else settings.SESSION_ENGINE
    return importlib.import_module(engine).SessionStore(salted_hmac("questionnaire.used", ticket.id).hexdigest())
