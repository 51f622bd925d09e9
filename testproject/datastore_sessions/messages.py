"""The requests of sessions as messages of google-cloud-datastore, and the data in the responses.

A session is an entity under its key: `session_data` is not indexed (an index takes 1,500 bytes at most), `expires_at`
is, for a TTL policy.
"""

import datetime
from typing import NamedTuple

from google.cloud.datastore_v1 import types

KIND = "Session"
PROJECT = "django-serving-benchmark"  # emulators take any


class Found(NamedTuple):
    """A session as it is stored: its data, encoded, and when it expires."""

    data: str
    expires_at: datetime.datetime


def lookup(key: str) -> types.LookupRequest:
    """Ask for the session of this key."""
    return types.LookupRequest(project_id=PROJECT, keys=[_key(key)])


def found(response: types.LookupResponse) -> dict[str, Found]:
    """The sessions in a response, by key."""
    return {
        result.entity.key.path[-1].name: Found(
            result.entity.properties["session_data"].string_value,
            result.entity.properties["expires_at"].timestamp_value,
        )
        for result in response.found
    }


def write(key: str, data: str, expires_at: datetime.datetime, new: bool) -> types.CommitRequest:
    """Writes a session: a `new` one is refused with ALREADY_EXISTS where there is one of that key, another with
    NOT_FOUND where there is none. The datastore sees to it within one commit, so it takes no transaction. A time
    without a zone, as USE_TZ=False has it, is local."""
    entity = types.Entity(
        key=_key(key),
        properties={
            "session_data": types.Value(string_value=data, exclude_from_indexes=True),
            "expires_at": types.Value(timestamp_value=expires_at.astimezone(datetime.UTC)),
        },
    )
    return _commit(types.Mutation(insert=entity) if new else types.Mutation(update=entity))


def delete(key: str) -> types.CommitRequest:
    """Delete the session of this key, if there is one."""
    return _commit(types.Mutation(delete=_key(key)))


def _key(key: str) -> types.Key:
    return types.Key(
        partition_id=types.PartitionId(project_id=PROJECT), path=[types.Key.PathElement(kind=KIND, name=key)]
    )


def _commit(mutation: types.Mutation) -> types.CommitRequest:
    mode = types.CommitRequest.Mode.NON_TRANSACTIONAL
    return types.CommitRequest(project_id=PROJECT, mode=mode, mutations=[mutation])
