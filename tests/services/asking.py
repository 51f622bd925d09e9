"""Send requests to a datastore in the datastore's protocol, for tests."""

import uuid

from google.cloud.datastore_v1 import types

PROJECT = "django-serving-benchmark"
NON_TRANSACTIONAL = types.CommitRequest.Mode.NON_TRANSACTIONAL


class Kind:
    """Send requests about entities of a new kind, which no other test uses."""

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

    def commit(self, *mutations):
        request = types.CommitRequest(project_id=PROJECT, mode=NON_TRANSACTIONAL, mutations=mutations)
        return self.call("commit", request)

    def insert(self, *entities):
        return self.commit(*(types.Mutation(insert=entity) for entity in entities))

    def lookup(self, *names):
        keys = [self.key(name) for name in names]
        return self.call("lookup", types.LookupRequest(project_id=PROJECT, keys=keys))

    def numbers(self, *names):
        found = self.lookup(*names).found
        return {one.entity.key.path[-1].name: one.entity.properties["number"].integer_value for one in found}
