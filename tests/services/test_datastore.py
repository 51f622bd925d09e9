"""The datastore's protocol, over gRPC and over HTTP, by Google's own client library: what sessions rely on.

It is asked of the embedded server, with its data in memory and in SQLite, and of another: the one that
DATASTORE_EMULATOR_HOST names, or Google's, where that is installed. They must answer alike.
"""

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

NOW = datetime.datetime(2026, 11, 22, tzinfo=datetime.timezone.utc)
HOUR = datetime.timedelta(hours=1)
Operator = types.PropertyFilter.Operator


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


def names(batch):
    return [result.entity.key.path[-1].name for result in batch.entity_results]


def property_filter(name, op, value):
    return types.Filter(
        property_filter=types.PropertyFilter(property=types.PropertyReference(name=name), op=op, value=value)
    )


def ascending(name):
    return [types.PropertyOrder(property=types.PropertyReference(name=name))]


def test_what_was_inserted_is_found_as_it_was(kind):
    entity = kind.entity(
        "a",
        text=types.Value(string_value="\u00e9" * 2000, exclude_from_indexes=True),
        number=types.Value(integer_value=-5),
        at=types.Value(timestamp_value=NOW),
        flag=types.Value(boolean_value=True),
        blob=types.Value(blob_value=b"\0\1"),
        nothing=types.Value(null_value=0),
    )
    result = kind.insert(entity)
    [found] = kind.lookup("a").found
    assert found.entity == entity
    assert found.version == result.mutation_results[0].version > 0


def test_what_is_not_there_is_missing(kind):
    kind.insert(kind.number("a", 1))
    response = kind.lookup("b", "a", "c")
    assert names_of(response.found) == ["a"]
    assert sorted(names_of(response.missing)) == ["b", "c"]


def names_of(results):
    return [result.entity.key.path[-1].name for result in results]


def test_an_insert_does_not_write_over(kind):
    kind.insert(kind.number("a", 1))
    with pytest.raises(exceptions.Conflict):
        kind.insert(kind.number("a", 2))
    assert kind.numbers("a") == {"a": 1}


def test_an_update_makes_nothing(kind):
    with pytest.raises(exceptions.NotFound):
        kind.commit(types.Mutation(update=kind.number("a", 1)))
    assert kind.numbers("a") == {}


def test_an_update_and_an_upsert_write_over(kind):
    kind.insert(kind.number("a", 1))
    kind.commit(types.Mutation(update=kind.number("a", 2)))
    assert kind.numbers("a") == {"a": 2}
    kind.commit(types.Mutation(upsert=kind.number("a", 3)), types.Mutation(upsert=kind.number("b", 4)))
    assert kind.numbers("a", "b") == {"a": 3, "b": 4}


def test_a_delete_may_find_nothing(kind):
    kind.insert(kind.number("a", 1))
    kind.commit(types.Mutation(delete=kind.key("a")), types.Mutation(delete=kind.key("b")))
    assert kind.numbers("a") == {}


def test_versions_grow(kind):
    first = kind.insert(kind.number("a", 1)).mutation_results[0].version
    second = kind.commit(types.Mutation(update=kind.number("a", 2))).mutation_results[0].version
    assert second > first


def test_a_write_that_changes_nothing_is_no_new_version(kind):
    first = kind.insert(kind.number("a", 1)).mutation_results[0].version
    again = kind.commit(types.Mutation(upsert=kind.number("a", 1))).mutation_results[0].version
    assert again == first == kind.lookup("a").found[0].version


def test_an_entity_is_written_once_in_a_commit(kind):
    with pytest.raises(exceptions.BadRequest):
        kind.commit(types.Mutation(upsert=kind.number("a", 1)), types.Mutation(upsert=kind.number("a", 2)))


def test_a_transaction_is_done_whole_or_not_at_all(kind):
    kind.insert(kind.number("a", 1))
    with pytest.raises(exceptions.Conflict):
        kind.commit(
            types.Mutation(insert=kind.number("b", 1)),
            types.Mutation(insert=kind.number("a", 2)),
            transaction=kind.begin(),
        )
    assert kind.numbers("a", "b") == {"a": 1}


def test_of_two_transactions_that_read_and_write_the_same_one_is_done(kind):
    kind.insert(kind.number("a", 1))
    one, two = kind.begin(), kind.begin()
    kind.lookup("a", transaction=one)
    kind.lookup("a", transaction=two)
    done = 0
    for transaction in (one, two):
        try:
            kind.commit(types.Mutation(upsert=kind.number("a", 2)), transaction=transaction)
            done += 1
        except exceptions.Conflict:
            pass
    assert done == 1


def test_what_was_missing_when_it_was_read_must_be_missing_still(kind):
    transaction = kind.begin()
    assert not kind.lookup("a", transaction=transaction).found
    kind.insert(kind.number("a", 1))
    with pytest.raises(exceptions.Conflict):
        kind.commit(types.Mutation(upsert=kind.number("a", 2)), transaction=transaction)
    assert kind.numbers("a") == {"a": 1}


def test_a_transaction_that_met_nobody_is_done(kind):
    kind.insert(kind.number("a", 1), kind.number("b", 1))
    transaction = kind.begin()
    kind.lookup("a", transaction=transaction)
    kind.commit(types.Mutation(update=kind.number("b", 2)))
    kind.commit(types.Mutation(update=kind.number("a", 2)), transaction=transaction)
    assert kind.numbers("a", "b") == {"a": 2, "b": 2}


def test_a_transaction_that_is_rolled_back_or_committed_has_ended(kind):
    rolled_back, committed = kind.begin(), kind.begin()
    kind.call("rollback", types.RollbackRequest(project_id=PROJECT, transaction=rolled_back))
    kind.commit(transaction=committed)
    for transaction in (rolled_back, committed, b"nobody's"):
        with pytest.raises(exceptions.BadRequest):
            kind.commit(types.Mutation(upsert=kind.number("a", 1)), transaction=transaction)
    assert kind.numbers("a") == {}


@pytest.mark.parametrize(
    ("op", "found"),
    [
        (Operator.LESS_THAN, ["a"]),
        (Operator.LESS_THAN_OR_EQUAL, ["a", "b"]),
        (Operator.EQUAL, ["b"]),
        (Operator.GREATER_THAN_OR_EQUAL, ["b", "c"]),
        (Operator.GREATER_THAN, ["c"]),
    ],
)
def test_a_query_compares(kind, op, found):
    times = {"a": NOW - HOUR, "b": NOW, "c": NOW + HOUR}
    kind.insert(*(kind.entity(name, at=types.Value(timestamp_value=at)) for name, at in times.items()))
    wanted = property_filter("at", op, types.Value(timestamp_value=NOW))
    assert names(kind.query(filter=wanted, order=ascending("at"))) == found


def test_a_query_finds_nothing_that_is_not_indexed_or_of_another_type(kind):
    kind.insert(
        kind.number("a", 1),
        kind.entity("b", number=types.Value(integer_value=1, exclude_from_indexes=True)),
        kind.entity("c", number=types.Value(string_value="1")),
        kind.entity("d", other=types.Value(integer_value=1)),
    )
    assert names(kind.query(filter=property_filter("number", Operator.EQUAL, types.Value(integer_value=1)))) == ["a"]


def test_a_query_with_two_conditions(kind):
    kind.insert(*(kind.number(name, number) for number, name in enumerate("abcd")))
    both = types.CompositeFilter(
        op=types.CompositeFilter.Operator.AND,
        filters=[
            property_filter("number", Operator.GREATER_THAN, types.Value(integer_value=0)),
            property_filter("number", Operator.LESS_THAN, types.Value(integer_value=3)),
        ],
    )
    assert names(kind.query(filter=types.Filter(composite_filter=both), order=ascending("number"))) == ["b", "c"]


def test_order_offset_and_limit(kind):
    kind.insert(*(kind.number(name, number) for number, name in enumerate("dacb")))
    batch = kind.query(order=ascending("number"), offset=1, limit=2)
    assert names(batch) == ["a", "c"]
    assert batch.more_results == types.QueryResultBatch.MoreResultsType.MORE_RESULTS_AFTER_LIMIT
    descending = types.PropertyOrder(
        property=types.PropertyReference(name="number"), direction=types.PropertyOrder.Direction.DESCENDING
    )
    assert names(kind.query(order=[descending])) == ["b", "c", "a", "d"]


def test_keys_only(kind):
    kind.insert(kind.number("a", 1))
    [result] = kind.query(
        projection=[types.Projection(property=types.PropertyReference(name="__key__"))]
    ).entity_results
    assert (result.entity.key.path[-1].name, dict(result.entity.properties)) == ("a", {})


def test_a_query_finds_its_own_kind_only(kind):
    other = Kind(kind.call)
    other.insert(other.number("a", 1))
    assert names(kind.query()) == []


@pytest.mark.parametrize("name", ["x" * 1501, "\u00e9" * 751])
def test_a_name_of_more_than_1500_bytes_is_refused(kind, name):
    kind.insert(kind.number(name[:750], 1))
    with pytest.raises(exceptions.BadRequest):
        kind.insert(kind.number(name, 1))
    with pytest.raises(exceptions.BadRequest):
        kind.lookup(name)


def test_a_reserved_name_is_not_written(kind):
    with pytest.raises(exceptions.BadRequest):
        kind.insert(kind.number("__a__", 1))
