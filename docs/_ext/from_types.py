"""Generate lists of fields, and JSON Schemas, from the msgspec types of the project's files."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from docutils import nodes
from msgspec import inspect
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from loadtests.plan.study import StudyTable
from loadtests.records import Trial
from loadtests.records.decode import allowed, type_info
from loadtests.records.run.read import SCHEMA
from loadtests.records.run.run_record import RunRecord
from loadtests.services.origin.recipes import Recipe
from loadtests.trials import readings

DRAFT = "https://json-schema.org/draft/2020-12/schema"
TYPES = {
    "study": (StudyTable, "A study file: TOML, read as JSON."),
    "run": (RunRecord, "run.json."),
    "trial": (Trial, "A file in trials/."),
    "recipe": (Recipe, "A recipe of an origin."),
}
WITH_NUMBER = ("run", "trial")  # files whose field ``schema`` contains the number of the format
Table = inspect.DataclassType | inspect.StructType


class FieldsOf(SphinxDirective):
    """Insert the fields of a type and of its nested types. The argument is ``module:Name``.

    With the option ``bounds``, the directive also shows allowed values and defaults, for files that users write.
    """

    required_arguments = 1
    option_spec = {"bounds": lambda _: True, "without": str.split}  # noqa: RUF012 - Sphinx requires a class attribute

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        module, _, name = self.arguments[0].partition(":")
        kind = type_info(getattr(importlib.import_module(module), name))
        skipped = set(self.options.get("without", []))
        return self.parse_text_to_nodes("\n".join(lines_of(kind, "bounds" in self.options, skipped)))


def lines_of(kind: inspect.Type, bounds: bool, done: set[str]) -> Iterator[str]:
    """Yield a definition list of a table's fields, then the lists of nested tables, except the tables in ``done``."""
    assert isinstance(kind, Table)
    done.add(kind.cls.__name__)
    for field in kind.fields:
        text = description(field.type)
        if bounds:
            text += f" {allowed(field.type).strip(',').capitalize()}.{default(field)}"
        yield from [f"``{field.encode_name}``", f"    {text.strip()}".replace("*", r"\*"), ""]
    for field in kind.fields:
        for inner in tables_in(field.type):
            if (name := inner.cls.__name__) not in done:
                text = " ".join(f"{inner.cls.__doc__}".split())
                yield from [f".. rubric:: {name}, in ``{field.encode_name}``", "", text, ""]
                yield from lines_of(inner, bounds, done)


def description(kind: inspect.Type) -> str:
    """Return the description that a field's type contains."""
    schema = kind.extra_json_schema if isinstance(kind, inspect.Metadata) else None
    return str((schema or {}).get("description", ""))


def default(field: inspect.Field) -> str:
    """Return a sentence with the field's default, or an empty string if no value is set by default."""
    if field.required:
        return " Required."
    return "" if field.default in (None, inspect.NODEFAULT, "") else f" Default: ``{json.dumps(field.default)}``."


def tables_in(kind: inspect.Type) -> Iterator[Table]:
    """Yield the table types in a field's type."""
    if isinstance(kind, Table):
        yield kind
    inner = [getattr(kind, name, None) for name in ("type", "item_type", "value_type")]
    for one in (*inner, *getattr(kind, "types", ()), *getattr(kind, "item_types", ())):
        if isinstance(one, inspect.Type):
            yield from tables_in(one)


def schema(name: str) -> dict[str, Any]:
    """Return a JSON Schema. The ``name`` is a key of TYPES, or ``summary`` for a row of summary.csv."""
    kind, title = (None, "A row of summary.csv, as a CSV reader returns it.") if name == "summary" else TYPES[name]
    found = summary() if kind is None else msgspec.json.schema(kind, schema_hook=lambda _: {"type": "object"})
    if reference := found.pop("$ref", None):
        found = {**found["$defs"].pop(reference.rpartition("/")[2]), "$defs": found["$defs"]}
    if name == "run":  # msgspec has no schema for Test, whose keys come from the work and the pace
        found["$defs"]["Test"] = {"type": "object", "description": "A test, with the keys of its work and its pace."}
    if name in WITH_NUMBER:
        found["properties"] = {"schema": {"const": SCHEMA}, **found["properties"]}
        found["required"] = ["schema", *found["required"]]
    return {"$schema": DRAFT, "$id": f"{name}.schema.json", **found, "title": title}


COUNTS = ("trials", "invalid", "unverified", "sent", "ok", "failed")


def summary() -> dict[str, Any]:
    """Return the JSON Schema of a row of summary.csv: counts, and the value and the interval of each metric."""
    counts = {name: {"type": "string", "pattern": "^[0-9]+$"} for name in COUNTS}
    figure = {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?)?$"}
    names = [metric.name for metric in readings.every(readings.ROLES)]
    figures = {f"{name}{end}": figure for name in names for end in ("", "_low", "_high")}
    texts = {name: {"type": "string", "minLength": 1} for name in ("label", "setup", "test")}
    return {"type": "object", "properties": texts | counts | figures, "required": [*texts, *counts]}


def write_schemas(app: Sphinx, error: Exception | None) -> None:
    """Write the schemas next to the pages that link to them."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "schemas"
    folder.mkdir(exist_ok=True)
    for name in (*TYPES, "summary"):
        text = re.sub(r":\w+:`([^`<]*)(?: <[^`]*>)?`", r"\1", json.dumps(schema(name), indent=1))
        (folder / f"{name}.schema.json").write_text(f"{text}\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("fields-of", FieldsOf)
    app.connect("build-finished", write_schemas)
    return {"parallel_read_safe": True}
