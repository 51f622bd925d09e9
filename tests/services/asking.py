"""What a test asks a datastore, in the words of its protocol."""

import uuid

from google.cloud.datastore_v1 import types

PROJECT = "django-serving-benchmark"
TRANSACTIONAL = types.CommitRequest.Mode.TRANSACTIONAL
NON_TRANSACTIONAL = types.CommitRequest.Mode.NON_TRANSACTIONAL


class Kind:
    """Entities of a kind that no other test has."""

    def __init__(self, call):
        self.call = call
        self.name = f"k{uuid.uuid4().hex}"

    def key(self, name):
        partition = types.PartitionId(project_id=PROJECT)
        return types.Key(partition_id=partition, path=[types.Key.PathElement(kind=self.name, name=name)])

    def entity(self, name, **properties):
        return types.Entity(key=self.key(name), properties=properties)

    def number(self, name, number, **more):
        return self.entity(name, number=types.Value(integer_value=number), **more)

    def commit(self, *mutations, **more):
        mode = TRANSACTIONAL if "transaction" in more else NON_TRANSACTIONAL
        return self.call("commit", types.CommitRequest(project_id=PROJECT, mode=mode, mutations=mutations, **more))

    def insert(self, *entities):
        return self.commit(*(types.Mutation(insert=entity) for entity in entities))

    def begin(self):
        return self.call("begin_transaction", types.BeginTransactionRequest(project_id=PROJECT)).transaction

    def lookup(self, *names, transaction=b""):
        options = types.ReadOptions(transaction=transaction) if transaction else None
        keys = [self.key(name) for name in names]
        return self.call("lookup", types.LookupRequest(project_id=PROJECT, keys=keys, read_options=options))

    def numbers(self, *names):
        found = self.lookup(*names).found
        return {one.entity.key.path[-1].name: one.entity.properties["number"].integer_value for one in found}

    def query(self, **query):
        asked = types.Query(kind=[types.KindExpression(name=self.name)], **query)
        partition = types.PartitionId(project_id=PROJECT)
        request = types.RunQueryRequest(project_id=PROJECT, partition_id=partition, query=asked)
        return self.call("run_query", request).batch
