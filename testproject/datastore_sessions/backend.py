"""The session store, for SESSION_ENGINE."""

import datetime
from typing import Any

from django.contrib.sessions.backends.base import VALID_KEY_CHARS, CreateError, SessionBase, UpdateError
from google.api_core.exceptions import Conflict, NotFound

from datastore_sessions import messages
from datastore_sessions.clients import acall, call

ALREADY_EXISTS = 6  # google.rpc.Code
LONGEST_KEY = 40  # as Django's database has it; its own keys have 32 characters
CHARACTERS = frozenset(VALID_KEY_CHARS)


class SessionStore(SessionBase):
    """Keep sessions in Google Cloud Datastore: a lookup loads one, a commit saves one.

    There is no `clear_expired`: let a TTL policy on `expires_at` delete expired sessions.
    """

    def _validate_session_key(self, key: str | None) -> bool:
        """True for a key that can be ours. The service fails on names of over 1,500 bytes and those like `__this__`."""
        return bool(super()._validate_session_key(key)) and len(key) <= LONGEST_KEY and CHARACTERS.issuperset(key)

    def load(self) -> dict[str, Any]:
        """The session's data; empty where there is none, or it has expired."""
        return self._loaded(call("lookup", messages.lookup(self.session_key)))

    async def aload(self) -> dict[str, Any]:
        """As `load`."""
        return self._loaded(await acall("lookup", messages.lookup(self.session_key)))

    def _loaded(self, response: Any) -> dict[str, Any]:
        found = messages.found(response).get(self.session_key)
        if found is None or found.expires_at <= _now():
            self._session_key = None
            return {}
        return self.decode(found.data)

    def exists(self, session_key: str | None) -> bool:
        """Whether there is a session of this key, expired or not."""
        return bool(session_key) and session_key in messages.found(call("lookup", messages.lookup(session_key)))

    async def aexists(self, session_key: str | None) -> bool:
        """As `exists`."""
        return bool(session_key) and session_key in messages.found(await acall("lookup", messages.lookup(session_key)))

    def create(self) -> None:
        """A session under a key that nobody has."""
        while True:
            self._session_key = self._get_new_session_key()
            try:
                self.save(must_create=True)
            except CreateError:  # somebody took it meanwhile
                continue
            self.modified = True
            return

    async def acreate(self) -> None:
        """As `create`."""
        while True:
            self._session_key = await self._aget_new_session_key()
            try:
                await self.asave(must_create=True)
            except CreateError:
                continue
            self.modified = True
            return

    def save(self, must_create: bool = False) -> None:
        """Writes the session. Raises CreateError where it must be new and is not, UpdateError where it was deleted."""
        if self.session_key is None:
            return self.create()
        data = self.encode(self._get_session(no_load=must_create))
        request = messages.write(self.session_key, data, self.get_expiry_date(), must_create)
        try:
            call("commit", request)
        except (Conflict, NotFound) as error:
            raise _meaning(error) from error

    async def asave(self, must_create: bool = False) -> None:
        """As `save`."""
        if self.session_key is None:
            return await self.acreate()
        data = self.encode(await self._aget_session(no_load=must_create))
        request = messages.write(self.session_key, data, await self.aget_expiry_date(), must_create)
        try:
            await acall("commit", request)
        except (Conflict, NotFound) as error:
            raise _meaning(error) from error

    def delete(self, session_key: str | None = None) -> None:
        """Deletes the session of this key, its own by default; nothing happens where there is none."""
        if (key := session_key or self.session_key) is not None:
            call("commit", messages.delete(key))

    async def adelete(self, session_key: str | None = None) -> None:
        """As `delete`."""
        if (key := session_key or self.session_key) is not None:
            await acall("commit", messages.delete(key))


def _now() -> datetime.datetime:
    """The time as the datastore has it, whatever USE_TZ says."""
    return datetime.datetime.now(datetime.UTC)


def _meaning(error: Conflict | NotFound) -> Exception:
    """Django's exception for it."""
    if isinstance(error, NotFound):
        return UpdateError()
    return CreateError() if _status(error) == ALREADY_EXISTS else error


def _status(error: Conflict) -> int | None:
    """Return the number of google.rpc.Code, which an answer over HTTP has only in its body."""
    if error.grpc_status_code is not None:
        return int(error.grpc_status_code.value[0])
    return next((int(status.code) for status in error.errors if hasattr(status, "code")), None)
