"""The documentation cannot fall behind the code: what the code has is on the pages, what the pages name exists."""

import dataclasses
import json
import re

import msgspec
import pytest

from loadtests import files, setups
from loadtests.errors import UserError
from loadtests.files import ROOT
from loadtests.plan import study as studies
from loadtests.plan.study_table import EntryTable, StudyTable
from loadtests.records.run.run_record import RunRecord
from loadtests.setups.application import overlay

FIXED = {"rate": 1, "duration": "1s"}
# Tests that take all keys there are, between them.
TESTS = (
    ("latency", FIXED),
    ("latency", {**FIXED, "requests": []}),
    ("latency", {**FIXED, "workload": "a"}),
    ("latency", {"pace": "recorded"}),
    ("throughput", {"duration": "1s"}),
    ("capacity", {}),
    ("broadcast", FIXED),
    ("echo", FIXED),
    ("rejoin", {}),
    ("deployment", {**FIXED, "way": "kill"}),
    ("stream", FIXED),
    ("journey", {"users": 1, "duration": "1s"}),
    ("journey-capacity", {}),
)


def allowed(tests, setup="gunicorn", **keys):
    """The keys that the parser of studies says are allowed where it found `nonsense`."""
    with pytest.raises(UserError, match="nonsense") as raised:
        studies.parse({"setups": [setup], "tests": tests, **keys}, "name", "a.toml")
    return set(str(raised.value).partition("allowed: ")[2].split(", "))


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def pages():
    for page in [*ROOT.glob("docs/**/*.rst"), *ROOT.glob("*.md")]:
        if "_build" not in page.parts and not any(part.startswith("reference-") for part in page.parts):
            yield page.name, page.read_text(encoding="utf-8")


def test_the_keys_of_a_study_are_those_on_its_page():
    keys = allowed({"latency": FIXED}, nonsense=1)
    keys |= allowed({"latency": FIXED}, {"setup": "gunicorn", "nonsense": 1})
    keys |= allowed({"latency": {**FIXED, "requests": [{"nonsense": 1}]}})
    for kind, test in TESTS:
        keys |= allowed({kind: {**test, "nonsense": 1}})
    of_file = {field.name for table in (StudyTable, EntryTable) for field in msgspec.structs.fields(table)}
    definitions = re.findall(r"^``.*``$", text_of("docs/reference/studies.rst"), flags=re.MULTILINE)
    assert set(re.findall(r"``([^`]+)``", " ".join(definitions))) | of_file >= keys


def test_the_example_of_a_study_is_one(tmp_path):
    page = text_of("docs/reference/studies.rst")
    example = page.partition(".. code-block:: toml\n")[2].partition("\nThe file\n")[0]
    file = tmp_path / "example.toml"
    file.write_text(re.sub(r"^   ", "", example, flags=re.MULTILINE), encoding="utf-8")
    study = studies.load(str(file))
    assert {entry.setup for entry in study.entries} <= set(setups.known())


def test_every_key_of_a_committed_run_is_a_field_of_its_type():
    documented = {"schema", *(field.name for field in dataclasses.fields(RunRecord))}
    for file in ROOT.glob("results/reference-*/run.json"):
        assert set(json.loads(file.read_text(encoding="utf-8"))) <= documented, file


def test_what_is_kept_is_on_the_page_of_what_it_does():
    sources = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "loadtests").rglob("*.py"))
    folders = re.findall(r"folders\.(?:make|private)\(\"([a-z]+)\"", sources)
    assert {"serve", "layers"} < set(folders)
    page = text_of("docs/what-it-does.rst")
    names = [*(f"bench-{kind}-*" for kind in folders), overlay.cache().name, files.RESULTS.name]
    assert [name for name in names if name not in page] == []


def test_what_it_does_and_how_to_report_are_linked_to():
    readme = text_of("README.md")
    assert "(docs/what-it-does.rst)" in readme
    assert "(SECURITY.md)" in readme
    assert ":doc:`what-it-does`" in text_of("docs/index.rst")


def test_the_knobs_and_their_bounds_are_on_their_page():
    rows = dict(re.findall(r"^``([A-Z_]+)``  +(.*)$", text_of("docs/setups.rst"), re.MULTILINE))
    assert list(rows) == [*setups.KNOBS, "DATABASE_URL"]
    for name, knob in setups.KNOBS.items():
        for bounds in re.findall(r"from (\d+) to (\d+)", knob.needed) if name != "BACKLOG" else ():
            assert rows[name].startswith(" to ".join(bounds))


def test_the_make_targets_and_the_commands_that_pages_name_exist(commands):
    targets = set(re.findall(r"^([a-z0-9-]+):", text_of("Makefile"), flags=re.MULTILINE))
    known = {name.split()[0] for name in commands}
    for name, text in pages():
        named = re.findall(r"(?:``|`|^ +|&& |=\S+ )make ([a-z0-9-]+)", text, flags=re.MULTILINE)
        assert set(named) <= targets, name
        assert set(re.findall(r"(?:-m|bin/|^)loadtests ([a-z]+)", text, flags=re.MULTILINE)) <= known, name


def test_there_are_at_most_25_pages_that_people_write():
    written = {*ROOT.glob("docs/*.rst"), *ROOT.glob("docs/background/*.rst"), *ROOT.glob("docs/reference/*.rst")}
    assert len(written - {ROOT / "docs/reference/commands.rst"}) <= 25
