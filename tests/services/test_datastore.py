"""Test the parts of the datastore's protocol that sessions need, over gRPC and HTTP with Google's client library.

The tests use the embedded server and, if DATASTORE_EMULATOR_HOST is set, another datastore such as Google's emulator.
The two datastores must give the same answers.
"""

import datetime
import os

import pytest

types = pytest.importorskip("google.cloud.datastore_v1.types")

from google.api_core import exceptions  # noqa: E402

from tests.fixtures.datastores import EmbeddedDatastore, ForeignDatastore  # noqa: E402
from tests.fixtures.exhaustive import exhaustive_but  # noqa: E402
from tests.services.asking import Kind  # noqa: E402

pytestmark = pytest.mark.servers

NOW = datetime.datetime(2026, 11, 22, tzinfo=datetime.UTC)


@pytest.fixture(scope="module", params=exhaustive_but(("embedded",), ["embedded", "another"]))
def server(request, tmp_path_factory):
    """Provide each datastore in turn for the tests in this file."""
    folder = tmp_path_factory.mktemp("datastore")
    if request.param == "embedded":
        running = EmbeddedDatastore(folder)
    elif host := os.environ.get("DATASTORE_EMULATOR_HOST"):
        running = ForeignDatastore(host)
    else:
        pytest.skip("no datastore except the embedded datastore. Set DATASTORE_EMULATOR_HOST")
    try:
        yield running.start()
    finally:
        running.stop()


@pytest.fixture(params=["1", "0"], ids=["gRPC", "HTTP"])
def kind(request, server, monkeypatch):
    from datastore_sessions.clients import call

    server.use(monkeypatch)
    monkeypatch.setenv("DATASTORE_GRPC", request.param)
    return Kind(call)


def names(results):
    return [result.entity.key.path[-1].name for result in results]


def test_inserted_entity_is_found_unchanged(kind):
    entity = kind.entity(
        "a",
        text=types.Value(string_value="\u00e9" * 2000, exclude_from_indexes=True),
        number=types.Value(integer_value=-5),
        at=types.Value(timestamp_value=NOW),
        flag=types.Value(boolean_value=True),
        blob=types.Value(blob_value=b"\0\1"),
        nothing=types.Value(null_value=0),
    )
    kind.insert(entity)
    response = kind.lookup("b", "a", "c")
    [found] = response.found
    assert found.entity == entity
    assert sorted(names(response.missing)) == ["b", "c"]


def test_upsert_overwrites_existing_entities(kind):
    kind.insert(kind.number("a", 1))
    kind.commit(types.Mutation(update=kind.number("a", 2)))
    assert kind.numbers("a") == {"a": 2}
    kind.commit(types.Mutation(upsert=kind.number("a", 3)), types.Mutation(upsert=kind.number("b", 4)))
    assert kind.numbers("a", "b") == {"a": 3, "b": 4}
    kind.commit(types.Mutation(delete=kind.key("a")), types.Mutation(delete=kind.key("c")))
    assert kind.numbers("a", "b") == {"b": 4}


@pytest.mark.parametrize(
    ("mutations", "error"),
    [
        ([("insert", "a")], exceptions.Conflict),
        ([("update", "b")], exceptions.NotFound),
        ([("upsert", "a"), ("upsert", "a")], exceptions.BadRequest),
        ([("insert", "__a__")], exceptions.BadRequest),
        ([("insert", "x" * 1501)], exceptions.BadRequest),
        ([("insert", "\u00e9" * 751)], exceptions.BadRequest),
    ],
    ids=["there already", "not there", "twice", "a reserved name", "a name of over 1500 bytes", "of two bytes each"],
)
def test_invalid_write_is_refused(kind, mutations, error):
    kind.insert(kind.number("a", 1), kind.number("x" * 1500, 1))
    with pytest.raises(error):
        kind.commit(*(types.Mutation({how: kind.number(name, 2)}) for how, name in mutations))
    assert kind.numbers("a", "b") == {"a": 1}


def test_lookup_of_long_name_fails(kind):
    with pytest.raises(exceptions.BadRequest):
        kind.lookup("x" * 1501)
