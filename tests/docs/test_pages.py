"""The documentation cannot fall behind the code: what the code has is on the pages, what the pages name exists."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from loadtests import files, setups
from loadtests.errors import UserError
from loadtests.plan import study as studies
from loadtests.plan.study_table import EntryTable, StudyTable
from loadtests.records.run.run_record import RunRecord
from loadtests.setups.application import overlay


def allowed(table: dict[str, Any]) -> set[str]:
    """The keys that the parser of studies says are allowed where it found `nonsense`."""
    with pytest.raises(UserError, match="nonsense") as raised:
        studies.parse(table, "name", "a.toml")
    return set(re.split(r", ", str(raised.value).partition("allowed: ")[2]))


def study_keys() -> set[str]:
    setup, test = {"setup": "gunicorn"}, {"rate": 1, "duration": "1s"}
    throughput = {"duration": "1s", "nonsense": 1}
    return (
        allowed({"setups": ["gunicorn"], "tests": {"latency": test}, "nonsense": 1})
        | allowed({"setups": [{**setup, "nonsense": 1}], "tests": {"latency": test}})
        | allowed({"setups": ["gunicorn"], "tests": {"latency": {**test, "nonsense": 1}}})
        | allowed({"setups": ["gunicorn"], "tests": {"latency": {**test, "requests": [], "nonsense": 1}}})
        | allowed({"setups": ["gunicorn"], "tests": {"latency": {**test, "workload": "a", "nonsense": 1}}})
        | allowed({"setups": ["gunicorn"], "tests": {"latency": {"pace": "recorded", "nonsense": 1}}})
        | allowed({"setups": ["gunicorn"], "tests": {"throughput": throughput}})
        | allowed({"setups": ["gunicorn"], "tests": {"latency": {**test, "requests": [{"nonsense": 1}]}}})
        | allowed({"setups": ["gunicorn"], "tests": {"capacity": {"nonsense": 1}}})
        | allowed({"setups": ["gunicorn"], "tests": {"broadcast": {**test, "nonsense": 1}}})
        | allowed({"setups": ["gunicorn"], "tests": {"echo": {**test, "nonsense": 1}}})
        | allowed({"setups": ["gunicorn"], "tests": {"rejoin": {"nonsense": 1}}})
        | allowed({"setups": ["gunicorn"], "tests": {"deployment": {**test, "way": "kill", "nonsense": 1}}})
        | allowed({"setups": ["gunicorn"], "tests": {"stream": {**test, "nonsense": 1}}})
        | allowed({"setups": ["gunicorn"], "tests": {"journey": {"users": 1, "duration": "1s", "nonsense": 1}}})
        | allowed({"setups": ["gunicorn"], "tests": {"journey-capacity": {"nonsense": 1}}})
    )


def terms(page: Path) -> set[str]:
    """What stands in double backquotes at the beginning of a definition."""
    lines = re.findall(r"^``.*``$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return set(re.findall(r"``([^`]+)``", " ".join(lines)))


def pages(root: Path) -> Iterator[tuple[str, str]]:
    for page in [*root.glob("docs/**/*.rst"), *root.glob("*.md")]:
        if "_build" not in page.parts and not any(part.startswith("reference-") for part in page.parts):
            yield page.name, page.read_text(encoding="utf-8")


def test_the_keys_of_a_study_are_those_on_its_page(root: Path) -> None:
    of_file = {field.name for table in (StudyTable, EntryTable) for field in msgspec.structs.fields(table)}
    assert terms(root / "docs/reference/studies.rst") | of_file >= study_keys()


def test_the_example_of_a_study_is_one(root: Path, tmp_path: Path) -> None:
    page = (root / "docs/reference/studies.rst").read_text(encoding="utf-8")
    example = page.partition(".. code-block:: toml\n")[2].partition("\nThe file\n")[0]
    file = tmp_path / "example.toml"
    file.write_text(re.sub(r"^   ", "", example, flags=re.MULTILINE), encoding="utf-8")
    study = studies.load(str(file))
    assert {entry.setup for entry in study.entries} <= set(setups.known())


def test_every_key_of_a_committed_run_is_a_field_of_its_type(root: Path) -> None:
    documented = {"schema", *(field.name for field in dataclasses.fields(RunRecord))}
    for file in root.glob("results/reference-*/run.json"):
        assert set(json.loads(file.read_text(encoding="utf-8"))) <= documented, file


def test_what_is_kept_is_on_the_page_of_what_it_does(root: Path) -> None:
    page = (root / "docs/what-it-does.rst").read_text(encoding="utf-8")
    folders = re.findall(r"folders\.(?:make|private)\(\"([a-z]+)\"", sources(root))
    assert {"serve", "layers"} < set(folders)
    for kind in folders:
        assert f"bench-{kind}-*" in page, kind
    for name in (overlay.cache().name, files.RESULTS.name):
        assert name in page, name


def sources(root: Path) -> str:
    return "".join(file.read_text(encoding="utf-8") for file in (root / "loadtests").rglob("*.py"))


def test_what_it_does_and_how_to_report_are_linked_to(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert "(docs/what-it-does.rst)" in readme
    assert "(SECURITY.md)" in readme
    assert ":doc:`what-it-does`" in (root / "docs/index.rst").read_text(encoding="utf-8")


def test_the_knobs_and_their_bounds_are_on_their_page(root: Path) -> None:
    page = (root / "docs/setups.rst").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^``([A-Z_]+)``  +(.*)$", page, re.MULTILINE))
    assert list(rows) == [*setups.KNOBS, "DATABASE_URL"]
    for name, knob in setups.KNOBS.items():
        for bounds in re.findall(r"from (\d+) to (\d+)", knob.needed) if name != "BACKLOG" else ():
            assert rows[name].startswith(" to ".join(bounds))


def test_the_make_targets_that_pages_name_exist(root: Path) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (root / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for name, text in pages(root):
        named = set(re.findall(r"(?:``|`|^ +|&& |=\S+ )make ([a-z0-9-]+)", text, flags=re.MULTILINE))
        assert named <= targets, name


def test_the_commands_that_pages_name_exist(root: Path, commands: dict[str, Any]) -> None:
    known = {name.split()[0] for name in commands}
    for name, text in pages(root):
        assert set(re.findall(r"(?:-m|bin/|^)loadtests ([a-z]+)", text, flags=re.MULTILINE)) <= known, name


def test_there_are_at_most_25_pages_that_people_write(root: Path) -> None:
    written = {*root.glob("docs/*.rst"), *root.glob("docs/background/*.rst"), *root.glob("docs/reference/*.rst")}
    assert len(written - {root / "docs/reference/commands.rst"}) <= 25
