"""The entities and the transactions on them: requests in, responses out.

Every change has a version of its own, a number that only grows. A transaction notes the versions that it reads, and its
commit is refused with ABORTED where one of them has changed since: what was read still holds at the commit, or nothing
is done.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from google.cloud.datastore_v1 import types
from google.protobuf.timestamp_pb2 import Timestamp

from loadtests.services.datastore.queries import run
from loadtests.services.datastore.refusals import Refusal, Status
from loadtests.services.datastore.storage import ENTITY, Storage, Stored

LOOKUP_RESPONSE = types.LookupResponse.pb()
RUN_QUERY_RESPONSE = types.RunQueryResponse.pb()
BEGIN_RESPONSE = types.BeginTransactionResponse.pb()
COMMIT_RESPONSE = types.CommitResponse.pb()
ROLLBACK_RESPONSE = types.RollbackResponse.pb()

TRANSACTIONAL, NON_TRANSACTIONAL = 1, 2  # CommitRequest.Mode
MOST_KEYS = 1000  # of a lookup (cloud.google.com/datastore/docs/concepts/limits)
MOST_MUTATIONS = 500  # of a commit
MOST_NAME_BYTES = 1500  # of a kind or a name, in UTF-8 (google/datastore/v1/entity.proto)
RESERVED = re.compile("__.*__")  # kinds and names that nobody writes (likewise)
TRANSACTION_S = 270.0  # what the service gives one

Clock = Callable[[], float]


@dataclasses.dataclass
class Reads:
    """A transaction: the versions that it read, by key, 0 for what was not there; and until when it lasts."""

    until: float
    read_only: bool
    versions: dict[bytes, int] = dataclasses.field(default_factory=dict)


class Entities:
    """All that is stored. One request at a time: whoever calls sees to it."""

    def __init__(self, storage: Storage, clock: Clock = time.time) -> None:
        self.clock = clock
        self.stored = storage
        self.transactions: dict[bytes, Reads] = {}
        # As the service's own, versions are microseconds at first: those of a process that is started again are above
        # its predecessor's. Nor is a transaction of that one taken for one of this.
        begun = round(clock() * 1e6)
        self._versions, self._names = itertools.count(begun), itertools.count(begun)

    def lookup(self, request: Any) -> Any:
        """LookupRequest to LookupResponse."""
        if len(request.keys) > MOST_KEYS:
            raise Refusal(Status.INVALID_ARGUMENT, f"cannot look up more than {MOST_KEYS} keys")
        response = LOOKUP_RESPONSE()
        reads = self._reads(request.read_options, response)
        response.read_time.CopyFrom(self._now())
        for key in request.keys:
            name = _name(key, request.project_id)
            found = self.stored.get(name)
            if reads is not None:
                reads.versions.setdefault(name, found.version if found else 0)
            if found is None:
                response.missing.add(entity=ENTITY(key=key))
            else:
                self._result(response.found.add(), found)
        return response

    def run_query(self, request: Any) -> Any:
        """RunQueryRequest to RunQueryResponse."""
        response = RUN_QUERY_RESPONSE()
        reads = self._reads(request.read_options, response)
        if request.WhichOneof("query_type") != "query":
            raise Refusal(Status.UNIMPLEMENTED, "only structured queries are implemented")
        partition = request.partition_id
        inside = [
            one
            for one in self.stored.all()
            if one.entity.key.partition_id.namespace_id == partition.namespace_id
            and one.entity.key.partition_id.project_id == (partition.project_id or request.project_id)
        ]
        found, more = run(request.query, inside)
        response.batch.read_time.CopyFrom(self._now())
        keys_only = bool(request.query.projection)
        response.batch.entity_result_type = 3 if keys_only else 1  # EntityResult.ResultType: KEY_ONLY, FULL
        response.batch.more_results = 2 if more else 3  # MORE_RESULTS_AFTER_LIMIT, NO_MORE_RESULTS
        response.batch.skipped_results = min(request.query.offset, len(inside))
        for one in found:
            result = response.batch.entity_results.add()
            if reads is not None:
                reads.versions.setdefault(_name(one.entity.key, request.project_id), one.version)
            if keys_only:
                result.entity.key.CopyFrom(one.entity.key)
            else:
                self._result(result, one)
        return response

    def begin_transaction(self, request: Any) -> Any:
        """BeginTransactionRequest to BeginTransactionResponse."""
        return BEGIN_RESPONSE(transaction=self._begin(request.transaction_options))

    def rollback(self, request: Any) -> Any:
        """RollbackRequest to RollbackResponse."""
        self._transaction(request.transaction)
        del self.transactions[request.transaction]
        return ROLLBACK_RESPONSE()

    def commit(self, request: Any) -> Any:
        """CommitRequest to CommitResponse: all of its mutations, or none."""
        if len(request.mutations) > MOST_MUTATIONS:
            raise Refusal(Status.INVALID_ARGUMENT, f"cannot write more than {MOST_MUTATIONS} entities in a commit")
        self._end(request)
        changes = [(mutation, self._target(mutation, request.project_id)) for mutation in request.mutations]
        _require_once((name for _, name in changes), request.mode)
        conflicts = [self._conflicts(mutation, name) for mutation, name in changes]
        for (mutation, name), conflict in zip(changes, conflicts, strict=True):
            if not conflict:
                self._require_possible(mutation, name)
        response, now = COMMIT_RESPONSE(), self._now()
        response.commit_time.CopyFrom(now)
        with self.stored.whole():
            for (mutation, name), conflict in zip(changes, conflicts, strict=True):
                result = response.mutation_results.add()
                if conflict:
                    result.conflict_detected = True
                    result.version = self._version(name)
                else:
                    result.version = self._apply(mutation, name, now)
        return response

    def _reads(self, options: Any, response: Any) -> Reads | None:
        """The transaction that a read is part of, if any; one that it begins is named in the response."""
        kind = options.WhichOneof("consistency_type")
        if kind == "transaction":
            return self._transaction(options.transaction)
        if kind == "new_transaction":
            response.transaction = self._begin(options.new_transaction)
            return self.transactions[response.transaction]
        if kind == "read_time":
            raise Refusal(Status.UNIMPLEMENTED, "reading at a past time is not implemented")
        return None

    def _begin(self, options: Any) -> bytes:
        now = self.clock()
        for name in [name for name, one in self.transactions.items() if one.until < now]:
            del self.transactions[name]
        name = b"transaction-%d" % next(self._names)
        self.transactions[name] = Reads(now + TRANSACTION_S, options.WhichOneof("mode") == "read_only")
        return name

    def _transaction(self, name: bytes) -> Reads:
        found = self.transactions.get(name)
        if found is None or found.until < self.clock():
            raise Refusal(Status.INVALID_ARGUMENT, "the transaction is not there: it has ended or was never begun")
        return found

    def _end(self, request: Any) -> None:
        """Ends the transaction of a commit. Raises Refusal where it cannot be committed."""
        chosen = request.WhichOneof("transaction_selector")
        if request.mode == NON_TRANSACTIONAL:
            if chosen is not None:
                raise Refusal(Status.INVALID_ARGUMENT, "a transaction, in a commit that is not transactional")
            return
        if request.mode != TRANSACTIONAL:
            raise Refusal(Status.INVALID_ARGUMENT, "a commit needs a mode")
        if chosen == "single_use_transaction":
            return
        if chosen is None:
            raise Refusal(Status.INVALID_ARGUMENT, "a transactional commit needs a transaction")
        reads = self._transaction(request.transaction)
        del self.transactions[request.transaction]
        if reads.read_only and request.mutations:
            raise Refusal(Status.INVALID_ARGUMENT, "a read-only transaction cannot write")
        if any(self._version(name) != version for name, version in reads.versions.items()):
            raise Refusal(Status.ABORTED, "what the transaction read has changed since; try again")

    def _target(self, mutation: Any, project: str) -> bytes:
        """The key of what a mutation is about."""
        operation = mutation.WhichOneof("operation")
        if operation is None:
            raise Refusal(Status.INVALID_ARGUMENT, "a mutation must have an operation")
        key = mutation.delete if operation == "delete" else getattr(mutation, operation).key
        if reserved := next((text for text in _texts(key) if RESERVED.fullmatch(text)), None):
            raise Refusal(Status.INVALID_ARGUMENT, f"{reserved} is reserved: it cannot be written")
        return _name(key, project)

    def _conflicts(self, mutation: Any, name: bytes) -> bool:
        """Whether a mutation names a base version that is not the current one."""
        strategy = mutation.WhichOneof("conflict_detection_strategy")
        if strategy == "update_time":
            raise Refusal(Status.UNIMPLEMENTED, "conflicts by time of update are not implemented; base_version is")
        return strategy == "base_version" and int(mutation.base_version) != self._version(name)

    def _require_possible(self, mutation: Any, name: bytes) -> None:
        operation = mutation.WhichOneof("operation")
        if operation == "insert" and self.stored.get(name):
            raise Refusal(Status.ALREADY_EXISTS, "entity already exists")
        if operation == "update" and not self.stored.get(name):
            raise Refusal(Status.NOT_FOUND, "no entity to update")

    def _apply(self, mutation: Any, name: bytes, now: Timestamp) -> int:
        operation = mutation.WhichOneof("operation")
        if operation == "delete":
            self.stored.drop(name)
            return next(self._versions)
        entity = ENTITY()
        entity.CopyFrom(getattr(mutation, operation))
        before = self.stored.get(name)
        if before is not None and before.entity == entity:
            return before.version  # it changes nothing (MutationResult.version in google/datastore/v1/datastore.proto)
        version = next(self._versions)
        self.stored.put(name, Stored(entity, version, before.created if before else now, now))
        return version

    def _version(self, name: bytes) -> int:
        found = self.stored.get(name)
        return found.version if found else 0

    def _now(self) -> Timestamp:
        now = Timestamp()
        now.FromMicroseconds(round(self.clock() * 1e6))
        return now

    @staticmethod
    def _result(result: Any, found: Stored) -> None:
        result.entity.CopyFrom(found.entity)
        result.version = found.version
        result.create_time.CopyFrom(found.created)
        result.update_time.CopyFrom(found.updated)


def _name(key: Any, project: str) -> bytes:
    """A key as one can look it up. Raises Refusal for one that is not complete or has too long a name."""
    if not key.path or any(element.WhichOneof("id_type") is None for element in key.path):
        raise Refusal(Status.UNIMPLEMENTED, "keys without a name or a number are not implemented")
    if any(len(text.encode()) > MOST_NAME_BYTES for text in _texts(key)):
        raise Refusal(Status.INVALID_ARGUMENT, f"a kind or a name in a key may have {MOST_NAME_BYTES} bytes")
    partition = key.partition_id
    path = [(element.kind, element.WhichOneof("id_type"), element.id, element.name) for element in key.path]
    return repr((partition.project_id or project, partition.database_id, partition.namespace_id, path)).encode()


def _texts(key: Any) -> Iterator[str]:
    """The kinds and names of a key; a name is empty where there is a number."""
    for element in key.path:
        yield from (element.kind, element.name)


def _require_once(names: Iterable[bytes], mode: int) -> None:
    named = list(names)
    if len(set(named)) < len(named):
        if mode == TRANSACTIONAL:
            raise Refusal(Status.UNIMPLEMENTED, "writing an entity twice in a transaction is not implemented")
        raise Refusal(Status.INVALID_ARGUMENT, "an entity may be written once in a commit without a transaction")
