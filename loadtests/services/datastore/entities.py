"""Store entities in memory: turn requests of Datastore's protocol into responses.

The responses omit the versions and times of Google's service, because sessions don't need them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from google.cloud.datastore_v1 import types

from loadtests.services.datastore.refusals import Refusal, Status

ENTITY = types.Entity.pb()
LOOKUP_RESPONSE = types.LookupResponse.pb()
COMMIT_RESPONSE = types.CommitResponse.pb()

NON_TRANSACTIONAL = 2  # CommitRequest.Mode
MAX_KEYS = 1000  # maximum number of keys in a lookup (cloud.google.com/datastore/docs/concepts/limits)
MAX_MUTATIONS = 500  # maximum number of mutations in a commit
MAX_NAME_BYTES = 1500  # maximum bytes of a kind or a name in UTF-8 (google/datastore/v1/entity.proto)
RESERVED = re.compile("__.*__")  # kinds and names that can't be written (google/datastore/v1/entity.proto)


class Entities:
    """The entities in memory. The caller must pass one request at a time."""

    def __init__(self) -> None:
        self.stored: dict[bytes, Any] = {}

    def lookup(self, request: Any) -> Any:
        """Return the LookupResponse for a LookupRequest."""
        if len(request.keys) > MAX_KEYS:
            raise Refusal(Status.INVALID_ARGUMENT, f"cannot look up more than {MAX_KEYS} keys")
        if request.read_options.WhichOneof("consistency_type") not in (None, "read_consistency"):
            raise Refusal(Status.UNIMPLEMENTED, "reading in a transaction or at a past time is not implemented")
        response = LOOKUP_RESPONSE()
        for key in request.keys:
            found = self.stored.get(_name(key, request.project_id))
            if found is None:
                response.missing.add(entity=ENTITY(key=key))
            else:
                response.found.add(entity=found)
        return response

    def commit(self, request: Any) -> Any:
        """Apply all mutations of a CommitRequest, or none of them, and return the CommitResponse."""
        if request.mode != NON_TRANSACTIONAL or request.WhichOneof("transaction_selector") is not None:
            raise Refusal(Status.UNIMPLEMENTED, "transactions are not implemented")
        if len(request.mutations) > MAX_MUTATIONS:
            raise Refusal(Status.INVALID_ARGUMENT, f"cannot write more than {MAX_MUTATIONS} entities in a commit")
        changes = [(mutation, _target(mutation, request.project_id)) for mutation in request.mutations]
        if len({name for _, name in changes}) < len(changes):
            raise Refusal(Status.INVALID_ARGUMENT, "a commit without a transaction can write an entity only once")
        for mutation, name in changes:
            self._require_possible(mutation, name)
        response = COMMIT_RESPONSE()
        for mutation, name in changes:
            self._apply(mutation, name)
            response.mutation_results.add()
        return response

    def _require_possible(self, mutation: Any, name: bytes) -> None:
        operation = mutation.WhichOneof("operation")
        if operation == "insert" and name in self.stored:
            raise Refusal(Status.ALREADY_EXISTS, "entity already exists")
        if operation == "update" and name not in self.stored:
            raise Refusal(Status.NOT_FOUND, "no entity to update")

    def _apply(self, mutation: Any, name: bytes) -> None:
        operation = mutation.WhichOneof("operation")
        if operation == "delete":
            self.stored.pop(name, None)
        else:
            entity = self.stored[name] = ENTITY()
            entity.CopyFrom(getattr(mutation, operation))


def _target(mutation: Any, project: str) -> bytes:
    """Return the key that a mutation writes."""
    operation = mutation.WhichOneof("operation")
    if operation is None:
        raise Refusal(Status.INVALID_ARGUMENT, "a mutation must have an operation")
    if mutation.WhichOneof("conflict_detection_strategy") is not None:
        raise Refusal(Status.UNIMPLEMENTED, "conflict detection is not implemented")
    key = mutation.delete if operation == "delete" else getattr(mutation, operation).key
    if reserved := next((text for text in _texts(key) if RESERVED.fullmatch(text)), None):
        raise Refusal(Status.INVALID_ARGUMENT, f"{reserved} is reserved and cannot be written")
    return _name(key, project)


def _name(key: Any, project: str) -> bytes:
    """Return a key as bytes.

    Raises:
        Refusal: If the key isn't complete or contains a name that is too long.
    """
    if not key.path or any(element.WhichOneof("id_type") is None for element in key.path):
        raise Refusal(Status.UNIMPLEMENTED, "keys without a name or a number are not implemented")
    if any(len(text.encode()) > MAX_NAME_BYTES for text in _texts(key)):
        raise Refusal(Status.INVALID_ARGUMENT, f"a kind or a name in a key can have at most {MAX_NAME_BYTES} bytes")
    partition = key.partition_id
    path = [(element.kind, element.WhichOneof("id_type"), element.id, element.name) for element in key.path]
    return repr((partition.project_id or project, partition.database_id, partition.namespace_id, path)).encode()


def _texts(key: Any) -> Iterator[str]:
    """Yield the kinds and names of a key. A name is empty if the key has a number instead."""
    for element in key.path:
        yield from (element.kind, element.name)
