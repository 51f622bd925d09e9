"""Every field of a file that people or the project write is described, once: in its type."""

import from_types
import pytest

from loadtests.files import ROOT
from loadtests.measure.host_options import HostsTable
from loadtests.plan.study import StudyTable
from loadtests.records import Trial
from loadtests.records.decode import allowed, type_info
from loadtests.records.run.folder import Run
from loadtests.records.run.run_record import RunRecord
from loadtests.services.origin.recipes import Recipe
from loadtests.workload.from_toml import WorkloadTable

NOT_RECORDS = {"Study", "Slot", "LognormalTimes", "Drawn"}
COMMITTED = sorted(ROOT.glob("results/reference-*/run.json"))


def tables(kind, done):
    if kind.cls.__name__ in done:
        return
    done.add(kind.cls.__name__)
    yield kind
    for field in kind.fields:
        for inner in from_types.tables_in(field.type):
            yield from tables(inner, done)


@pytest.mark.parametrize("kind", [RunRecord, Trial, Recipe, StudyTable, WorkloadTable, HostsTable])
def test_every_field_is_described(kind):
    for table in tables(type_info(kind), set(NOT_RECORDS)):
        missing = [field.name for field in table.fields if not from_types.description(field.type)]
        assert missing == [], table.cls
        assert all(allowed(field.type) for field in table.fields)


@pytest.mark.parametrize("name", [*from_types.TYPES, "summary"])
def test_a_schema_is_made_of_the_types(name):
    schema = from_types.schema(name)
    assert schema["$id"] == f"{name}.schema.json"
    assert schema["title"]
    assert set(schema["required"]) <= set(schema["properties"])


@pytest.mark.exhaustive
@pytest.mark.parametrize("file", COMMITTED, ids=lambda file: file.parent.name)
def test_the_committed_runs_are_read(file):
    assert Run.open(file.parent).trials()
