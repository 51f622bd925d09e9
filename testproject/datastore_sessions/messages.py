"""Create Datastore requests for sessions, and read the responses.

A session is an entity whose name is the session's key. The property `session_data` isn't indexed, because an index
accepts at most 1,500 bytes. The property `expires_at` is indexed for a TTL policy.
"""

import datetime
from typing import NamedTuple

from google.cloud.datastore_v1 import types

KIND = "Session"
PROJECT = "django-serving-benchmark"  # emulators accept any name


class Found(NamedTuple):
    """The encoded data of a stored session, and the time when the session expires."""

    data: str
    expires_at: datetime.datetime


def lookup(key: str) -> types.LookupRequest:
    """Return the request that looks up a session."""
    return types.LookupRequest(project_id=PROJECT, keys=[_key(key)])


def found(response: types.LookupResponse) -> dict[str, Found]:
    """Return the sessions in a response, by their keys."""
    return {
        result.entity.key.path[-1].name: Found(
            result.entity.properties["session_data"].string_value,
            result.entity.properties["expires_at"].timestamp_value,
        )
        for result in response.found
    }


def write(key: str, data: str, expires_at: datetime.datetime, new: bool) -> types.CommitRequest:
    """Return the request that writes a session.

    Datastore checks the conditions within one commit, so no transaction is needed.

    Args:
        key: The key of the session.
        data: The encoded data of the session.
        expires_at: The time when the session expires. Without a time zone (USE_TZ=False), it is local time.
        new: Whether the session must be new. Datastore then answers ALREADY_EXISTS if the session exists. Otherwise,
            the session must exist, and Datastore answers NOT_FOUND if it doesn't.
    """
    entity = types.Entity(
        key=_key(key),
        properties={
            "session_data": types.Value(string_value=data, exclude_from_indexes=True),
            "expires_at": types.Value(timestamp_value=expires_at.astimezone(datetime.UTC)),
        },
    )
    return _commit(types.Mutation(insert=entity) if new else types.Mutation(update=entity))


def delete(key: str) -> types.CommitRequest:
    """Return the request that deletes a session. A missing session isn't an error."""
    return _commit(types.Mutation(delete=_key(key)))


def _key(key: str) -> types.Key:
    return types.Key(
        partition_id=types.PartitionId(project_id=PROJECT), path=[types.Key.PathElement(kind=KIND, name=key)]
    )


def _commit(mutation: types.Mutation) -> types.CommitRequest:
    mode = types.CommitRequest.Mode.NON_TRANSACTIONAL
    return types.CommitRequest(project_id=PROJECT, mode=mode, mutations=[mutation])
