"""Test that the documentation describes all keys, knobs and stored data, and only mentions existing commands."""

import re

import from_types
import msgspec
import pytest

from loadtests import files, setups
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.measure.host_options import HostsTable
from loadtests.plan import study as studies
from loadtests.plan.study_table import EntryTable, StudyTable
from loadtests.records import Trial
from loadtests.records.decode import allowed, type_info
from loadtests.records.run.run_record import RunRecord
from loadtests.services.origin.recipes import Recipe
from loadtests.workload.from_toml import WorkloadTable

FIXED = {"rate": 1, "duration": "1s"}
# Kinds and options of tests. Each key is allowed by at least one of these tests.
TESTS = (
    ("latency", FIXED),
    ("latency", {**FIXED, "requests": []}),
    ("latency", {**FIXED, "workload": "a"}),
    ("latency", {"pace": "recorded"}),
    ("throughput", {"duration": "1s"}),
    ("capacity", {}),
    ("broadcast", FIXED),
    ("echo", FIXED),
    ("deployment", {**FIXED, "way": "kill"}),
    ("stream", FIXED),
    ("journey", {"users": 1, "duration": "1s"}),
    ("journey-capacity", {}),
)


def keys_of(tests, setup="gunicorn", **keys):
    """Return the keys that the parser allows, according to its error about the unknown key ``nonsense``."""
    with pytest.raises(UserError, match="nonsense") as raised:
        studies.parse({"setups": [setup], "tests": tests, **keys}, "name", "a.toml")
    return set(str(raised.value).partition("Allowed: ")[2].split(", "))


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def pages():
    for page in [*ROOT.glob("docs/**/*.rst"), *ROOT.glob("*.md")]:
        if "_build" not in page.parts and not any(part.startswith("reference-") for part in page.parts):
            yield page.name, page.read_text(encoding="utf-8")


def test_study_keys_are_documented():
    keys = keys_of({"latency": FIXED}, nonsense=1)
    keys |= keys_of({"latency": FIXED}, {"setup": "gunicorn", "nonsense": 1})
    keys |= keys_of({"latency": {**FIXED, "requests": [{"nonsense": 1}]}})
    for kind, test in TESTS:
        keys |= keys_of({kind: {**test, "nonsense": 1}})
    of_file = {field.name for table in (StudyTable, EntryTable) for field in msgspec.structs.fields(table)}
    definitions = re.findall(r"^``.*``$", text_of("docs/reference/studies.rst"), flags=re.MULTILINE)
    assert set(re.findall(r"``([^`]+)``", " ".join(definitions))) | of_file >= keys


def test_study_example_is_valid(tmp_path):
    page = text_of("docs/reference/studies.rst")
    example = page.partition(".. code-block:: toml\n")[2].partition("\nThe file\n")[0]
    file = tmp_path / "example.toml"
    file.write_text(re.sub(r"^   ", "", example, flags=re.MULTILINE), encoding="utf-8")
    study = studies.load(str(file))
    assert {entry.setup for entry in study.entries} <= set(setups.known())


def test_stored_data_is_documented():
    sources = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "loadtests").rglob("*.py"))
    folders = re.findall(r"folders\.(?:make|private)\(\"([a-z]+)\"", sources)
    assert {"serve", "profile"} <= set(folders)
    page = text_of("docs/what-it-does.rst")
    names = [*(f"bench-{kind}-*" for kind in folders), files.cache().name, files.RESULTS.name]
    assert [name for name in names if name not in page] == []


def test_documented_targets_and_commands_exist(commands):
    targets = set(re.findall(r"^([a-z0-9-]+):", text_of("Makefile"), flags=re.MULTILINE))
    known = {name.split()[0] for name in commands}
    for name, text in pages():
        named = re.findall(r"(?:``|`|^ +|&& |=\S+ )make ([a-z0-9-]+)", text, flags=re.MULTILINE)
        assert set(named) <= targets, name
        assert set(re.findall(r"(?:-m|bin/|^)loadtests ([a-z]+)", text, flags=re.MULTILINE)) <= known, name


NOT_RECORDS = {"Study", "Slot", "LognormalTimes", "Drawn"}


def tables(kind, done):
    if kind.cls.__name__ in done:
        return
    done.add(kind.cls.__name__)
    yield kind
    for field in kind.fields:
        for inner in from_types.tables_in(field.type):
            yield from tables(inner, done)


@pytest.mark.parametrize("kind", [RunRecord, Trial, Recipe, StudyTable, WorkloadTable, HostsTable])
def test_all_fields_are_described(kind):
    for table in tables(type_info(kind), set(NOT_RECORDS)):
        missing = [field.name for field in table.fields if not from_types.description(field.type)]
        assert missing == [], table.cls
        assert all(allowed(field.type) for field in table.fields)


@pytest.mark.parametrize("name", [*from_types.TYPES, "summary"])
def test_schemas_match_the_types(name):
    schema = from_types.schema(name)
    assert schema["$id"] == f"{name}.schema.json"
    assert schema["title"]
    assert set(schema["required"]) <= set(schema["properties"])
