"""The requests of sessions as messages of google-cloud-datastore, and the data in the responses.

A session is an entity under its key: `session_data` is not indexed (an index takes 1,500 bytes at most), `expires_at`
is, for the command that clears expired ones.
"""

import datetime
from collections.abc import Iterable
from typing import NamedTuple

from google.cloud.datastore_v1 import types

KIND = "Session"
PROJECT = "django-serving-benchmark"  # emulators take any
MOST_AT_ONCE = 500  # entities that a commit may change

Commit = types.CommitRequest


class Found(NamedTuple):
    """A session as it is stored: its data, encoded, and when it expires."""

    data: str
    expires_at: datetime.datetime


def lookup(keys: Iterable[str], transaction: bytes = b"") -> types.LookupRequest:
    """Asks for the sessions of these keys, as part of a transaction where one is named."""
    options = types.ReadOptions(transaction=transaction) if transaction else None
    return types.LookupRequest(project_id=PROJECT, keys=[_key(key) for key in keys], read_options=options)


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
    return _commit([types.Mutation(insert=entity) if new else types.Mutation(update=entity)])


def delete(keys: Iterable[str], transaction: bytes = b"") -> types.CommitRequest:
    """Deletes the sessions of these keys, those that are there, as the end of a transaction where one is named."""
    return _commit([types.Mutation(delete=_key(key)) for key in keys], transaction)


def begin() -> types.BeginTransactionRequest:
    """Begins a transaction."""
    return types.BeginTransactionRequest(project_id=PROJECT)


def expired(now: datetime.datetime) -> types.RunQueryRequest:
    """Asks for the keys of sessions that have expired, as many as a commit may delete."""
    before = types.PropertyFilter(
        property=types.PropertyReference(name="expires_at"),
        op=types.PropertyFilter.Operator.LESS_THAN,
        value=types.Value(timestamp_value=now),
    )
    query = types.Query(
        kind=[types.KindExpression(name=KIND)],
        filter=types.Filter(property_filter=before),
        projection=[types.Projection(property=types.PropertyReference(name="__key__"))],
        limit=MOST_AT_ONCE,
    )
    return types.RunQueryRequest(project_id=PROJECT, partition_id=types.PartitionId(project_id=PROJECT), query=query)


def keys(response: types.RunQueryResponse) -> list[str]:
    """The keys in the answer to `expired`."""
    return [result.entity.key.path[-1].name for result in response.batch.entity_results]


def _key(key: str) -> types.Key:
    return types.Key(
        partition_id=types.PartitionId(project_id=PROJECT), path=[types.Key.PathElement(kind=KIND, name=key)]
    )


def _commit(mutations: list[types.Mutation], transaction: bytes = b"") -> types.CommitRequest:
    if transaction:
        return Commit(project_id=PROJECT, mode=Commit.Mode.TRANSACTIONAL, transaction=transaction, mutations=mutations)
    return Commit(project_id=PROJECT, mode=Commit.Mode.NON_TRANSACTIONAL, mutations=mutations)
