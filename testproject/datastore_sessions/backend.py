"""Store sessions in Google Cloud Datastore, for SESSION_ENGINE."""

import datetime
from typing import Any

from django.contrib.sessions.backends.base import VALID_KEY_CHARS, CreateError, SessionBase, UpdateError
from google.api_core.exceptions import Conflict, NotFound

from datastore_sessions import messages
from datastore_sessions.clients import acall, call

ALREADY_EXISTS = 6  # The code in google.rpc.Code.
LONGEST_KEY = 40  # The limit of Django's database backend. Keys from Django have 32 characters.
CHARACTERS = frozenset(VALID_KEY_CHARS)


class SessionStore(SessionBase):
    """Keep sessions in Google Cloud Datastore, with a lookup to load and a commit to save a session.

    There is no `clear_expired`: let a TTL policy on `expires_at` delete expired sessions.
    """

    def _validate_session_key(self, key: str | None) -> bool:
        """Check whether Django can have created this key.

        Datastore returns an error for names of more than 1,500 bytes, and for names such as `__this__`.
        """
        return bool(super()._validate_session_key(key)) and len(key) <= LONGEST_KEY and CHARACTERS.issuperset(key)

    def load(self) -> dict[str, Any]:
        """Return the data of the session, which is empty if the session doesn't exist or has expired."""
        return self._loaded(call("lookup", messages.lookup(self.session_key)))

    async def aload(self) -> dict[str, Any]:
        """Return the data of the session, as `load` does."""
        return self._loaded(await acall("lookup", messages.lookup(self.session_key)))

    def _loaded(self, response: Any) -> dict[str, Any]:
        found = messages.found(response).get(self.session_key)
        # Like the times from Datastore, this time has a time zone, even if USE_TZ is false.
        if found is None or found.expires_at <= datetime.datetime.now(datetime.UTC):
            self._session_key = None
            return {}
        return self.decode(found.data)

    def exists(self, session_key: str | None) -> bool:
        """Return whether the session exists, even if it has expired."""
        return bool(session_key) and session_key in messages.found(call("lookup", messages.lookup(session_key)))

    async def aexists(self, session_key: str | None) -> bool:
        """Return whether the session exists, as `exists` does."""
        return bool(session_key) and session_key in messages.found(await acall("lookup", messages.lookup(session_key)))

    def create(self) -> None:
        """Create a session with an unused key."""
        while True:
            self._session_key = self._get_new_session_key()
            try:
                self.save(must_create=True)
            except CreateError:  # another request has created a session with this key
                continue
            self.modified = True
            return

    async def acreate(self) -> None:
        """Create a session, as `create` does."""
        while True:
            self._session_key = await self._aget_new_session_key()
            try:
                await self.asave(must_create=True)
            except CreateError:
                continue
            self.modified = True
            return

    def save(self, must_create: bool = False) -> None:
        """Save the session.

        Raises:
            CreateError: If the session must be new, but exists.
            UpdateError: If the session was deleted.
        """
        if self.session_key is None:
            return self.create()
        data = self.encode(self._get_session(no_load=must_create))
        request = messages.write(self.session_key, data, self.get_expiry_date(), must_create)
        try:
            call("commit", request)
        except (Conflict, NotFound) as error:
            raise _meaning(error) from error

    async def asave(self, must_create: bool = False) -> None:
        """Save the session, as `save` does."""
        if self.session_key is None:
            return await self.acreate()
        data = self.encode(await self._aget_session(no_load=must_create))
        request = messages.write(self.session_key, data, await self.aget_expiry_date(), must_create)
        try:
            await acall("commit", request)
        except (Conflict, NotFound) as error:
            raise _meaning(error) from error

    def delete(self, session_key: str | None = None) -> None:
        """Delete a session, by default this session. A missing session isn't an error."""
        if (key := session_key or self.session_key) is not None:
            call("commit", messages.delete(key))

    async def adelete(self, session_key: str | None = None) -> None:
        """Delete a session, as `delete` does."""
        if (key := session_key or self.session_key) is not None:
            await acall("commit", messages.delete(key))


def _meaning(error: Conflict | NotFound) -> Exception:
    """Return the exception that Django expects for this error."""
    if isinstance(error, NotFound):
        return UpdateError()
    return CreateError() if _status(error) == ALREADY_EXISTS else error


def _status(error: Conflict) -> int | None:
    """Return the number of the error in google.rpc.Code. Over HTTP, only the body of the response contains it."""
    if error.grpc_status_code is not None:
        return int(error.grpc_status_code.value[0])
    return next((int(status.code) for status in error.errors if hasattr(status, "code")), None)
