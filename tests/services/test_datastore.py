"""The datastore's protocol, over gRPC and over HTTP, by Google's own client library: what sessions rely on.

It is asked of the embedded server, with its data in memory and in SQLite, and of another: the one that
DATASTORE_EMULATOR_HOST names, or Google's, where that is installed. They must answer alike.
"""

import contextlib
import datetime
import os

import pytest

types = pytest.importorskip("google.cloud.datastore_v1.types")

from google.api_core import exceptions  # noqa: E402

from tests.fixtures import google_datastore  # noqa: E402
from tests.fixtures.datastores import EmbeddedDatastore, ForeignDatastore  # noqa: E402
from tests.fixtures.exhaustive import exhaustive_but  # noqa: E402
from tests.services.asking import PROJECT, Kind  # noqa: E402

pytestmark = pytest.mark.servers

NOW = datetime.datetime(2026, 11, 22, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)
Operator = types.PropertyFilter.Operator
MORE_AFTER_LIMIT = types.QueryResultBatch.MoreResultsType.MORE_RESULTS_AFTER_LIMIT


@pytest.fixture(scope="module", params=exhaustive_but("memory", ["memory", "sqlite", "another"]))
def server(request, tmp_path_factory):
    """A datastore for as long as the tests of this file."""
    folder = tmp_path_factory.mktemp("datastore")
    if request.param != "another":
        running = EmbeddedDatastore(folder, DATA=request.param)
    elif host := os.environ.get("DATASTORE_EMULATOR_HOST"):
        running = ForeignDatastore(host)
    elif google_datastore.program() is None:
        pytest.skip(google_datastore.NEEDED)
    else:
        running = google_datastore.GoogleDatastore(folder, PROJECT)
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


def whole(number):
    return types.Value(integer_value=number)


def compared(name, op, value):
    return types.Filter(
        property_filter=types.PropertyFilter(property=types.PropertyReference(name=name), op=op, value=value)
    )


def order(name, direction="ASCENDING"):
    return [types.PropertyOrder(property=types.PropertyReference(name=name), direction=direction)]


def test_what_was_inserted_is_found_as_it_was(kind):
    entity = kind.entity(
        "a",
        text=types.Value(string_value="\u00e9" * 2000, exclude_from_indexes=True),
        number=whole(-5),
        at=types.Value(timestamp_value=NOW),
        flag=types.Value(boolean_value=True),
        blob=types.Value(blob_value=b"\0\1"),
        nothing=types.Value(null_value=0),
    )
    result = kind.insert(entity)
    response = kind.lookup("b", "a", "c")
    [found] = response.found
    assert found.entity == entity
    assert found.version == result.mutation_results[0].version > 0
    assert sorted(names(response.missing)) == ["b", "c"]


def test_an_update_and_an_upsert_write_over_and_a_delete_may_find_nothing(kind):
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
def test_what_cannot_be_written_is_refused(kind, mutations, error):
    kind.insert(kind.number("a", 1), kind.number("x" * 1500, 1))
    with pytest.raises(error):
        kind.commit(*(types.Mutation({how: kind.number(name, 2)}) for how, name in mutations))
    assert kind.numbers("a", "b") == {"a": 1}


def test_a_name_of_more_than_1500_bytes_is_not_looked_up(kind):
    with pytest.raises(exceptions.BadRequest):
        kind.lookup("x" * 1501)


def test_versions_grow_where_a_write_changes_something(kind):
    first = kind.insert(kind.number("a", 1)).mutation_results[0].version
    again = kind.commit(types.Mutation(upsert=kind.number("a", 1))).mutation_results[0].version
    assert again == first == kind.lookup("a").found[0].version
    assert kind.commit(types.Mutation(update=kind.number("a", 2))).mutation_results[0].version > first


def test_a_transaction_is_done_whole_or_not_at_all(kind):
    kind.insert(kind.number("a", 1))
    with pytest.raises(exceptions.Conflict):
        kind.commit(
            types.Mutation(insert=kind.number("b", 1)),
            types.Mutation(insert=kind.number("a", 2)),
            transaction=kind.begin(),
        )
    assert kind.numbers("a", "b") == {"a": 1}


@pytest.mark.parametrize(
    ("before", "how", "name", "is_done"),
    [(["a"], "update", "a", False), ([], "insert", "a", False), (["a", "b"], "update", "b", True)],
    ids=["written", "missing no longer", "something else"],
)
def test_a_transaction_is_done_where_what_it_read_is_as_it_was(kind, before, how, name, is_done):
    kind.insert(*(kind.number(one, 1) for one in before))
    transaction, other = kind.begin(), kind.begin()
    assert names(kind.lookup("a", transaction=transaction).found) == before[:1]
    kind.commit(types.Mutation({how: kind.number(name, 2)}), transaction=other)
    with contextlib.nullcontext() if is_done else pytest.raises(exceptions.Conflict):
        kind.commit(types.Mutation(upsert=kind.number("a", 3)), transaction=transaction)
    assert kind.numbers("a") == {"a": 3 if is_done else 2}


def test_a_transaction_that_is_rolled_back_or_committed_has_ended(kind):
    rolled_back, committed = kind.begin(), kind.begin()
    kind.call("rollback", types.RollbackRequest(project_id=PROJECT, transaction=rolled_back))
    kind.commit(transaction=committed)
    for transaction in (rolled_back, committed, b"nobody's"):
        with pytest.raises(exceptions.BadRequest):
            kind.commit(types.Mutation(upsert=kind.number("a", 1)), transaction=transaction)
    assert kind.numbers("a") == {}


def at(op):
    return {"filter": compared("at", op, types.Value(timestamp_value=NOW)), "order": order("at")}


BETWEEN = types.CompositeFilter(
    op=types.CompositeFilter.Operator.AND,
    filters=[compared("number", Operator.GREATER_THAN, whole(1)), compared("number", Operator.LESS_THAN, whole(3))],
)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (at(Operator.LESS_THAN), ["a"]),
        (at(Operator.LESS_THAN_OR_EQUAL), ["a", "b"]),
        (at(Operator.EQUAL), ["b"]),
        (at(Operator.GREATER_THAN_OR_EQUAL), ["b", "c"]),
        (at(Operator.GREATER_THAN), ["c"]),
        ({"filter": compared("number", Operator.EQUAL, whole(1))}, ["a"]),  # of that type, and indexed
        ({"filter": types.Filter(composite_filter=BETWEEN)}, ["b"]),
        ({"order": order("at", "DESCENDING")}, ["c", "b", "a"]),
        ({"order": order("at"), "offset": 1, "limit": 1}, ["b"]),
    ],
)
def test_a_query_filters_and_sorts(kind, query, found):
    other = Kind(kind.call)
    other.insert(other.number("z", 1, at=types.Value(timestamp_value=NOW)))
    times = {"c": NOW + HOUR, "a": NOW - HOUR, "b": NOW}
    numbers = {"a": 1, "b": 2, "c": 3}
    kind.insert(
        *(kind.number(name, numbers[name], at=types.Value(timestamp_value=time)) for name, time in times.items()),
        kind.entity("d", number=types.Value(integer_value=1, exclude_from_indexes=True)),
        kind.entity("e", number=types.Value(string_value="1")),
        kind.entity("f", other=whole(1)),
    )
    batch = kind.query(**query)
    assert names(batch.entity_results) == found
    assert "limit" not in query or batch.more_results == MORE_AFTER_LIMIT


def test_keys_only(kind):
    kind.insert(kind.number("a", 1))
    key = types.Projection(property=types.PropertyReference(name="__key__"))
    [result] = kind.query(projection=[key]).entity_results
    assert (result.entity.key.path[-1].name, dict(result.entity.properties)) == ("a", {})
