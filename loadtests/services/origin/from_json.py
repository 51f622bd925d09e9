"""Recipes as JSON: read, judged key by key. docs/schemas/recipe.schema.json says the same as a schema."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from loadtests import files
from loadtests.errors import UserError, quoted, unknown
from loadtests.records.toml import TomlTable
from loadtests.services.origin import amounts, content, latencies, loopback
from loadtests.services.origin.content import MOST_BYTES, Content
from loadtests.services.origin.latencies import Constant, Distribution, Lognormal, Uniform
from loadtests.services.origin.recipes import EVERYTHING, SEED, Recipe, Stage

SHIPPED = Path(__file__).with_name("recipes")
ADMIN = "/_admin/"
MOST_RECIPE_BYTES = MOST_BYTES + 1_000_000
MOST_STAGE_S = 24 * 3600.0

_ROUTE = re.compile(r"/[\x21-\x29\x2b-\x3e\x40-\x7e]*\*?")  # visible ASCII without ? and, but at the end, without *
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_OURS = ("content-length", "transfer-encoding")


def names() -> list[str]:
    """The recipes that ship."""
    return sorted(file.stem for file in SHIPPED.glob("*.json"))


def load(named: str) -> tuple[Recipe, ...]:
    """The recipes of a file, or of one that ships by its name. Raises UserError: file, key, what is right."""
    if named in names():
        path = SHIPPED / f"{named}.json"
    elif "/" not in named and not named.endswith(".json"):
        raise unknown("recipe", named, names())
    else:
        path = Path(named)
    try:
        return read(files.read(path, MOST_RECIPE_BYTES), named)
    except OSError as error:
        raise UserError(f"{named}: cannot be read: {error.strerror}") from None


def read(text: bytes, where: str) -> tuple[Recipe, ...]:
    """The recipes in a JSON text, an object or a list of them; ``where`` begins an error. Raises UserError."""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: not valid JSON: {error}") from None
    except RecursionError:
        raise UserError(f"{where}: not valid JSON: it is nested too deeply") from None
    return parse(values, where)


def parse(values: object, where: str) -> tuple[Recipe, ...]:
    """The recipes in what JSON holds, likewise."""
    if not isinstance(values, list):
        return (_recipe(values, where, ""),)
    if not values:
        raise UserError(f"{where}: holds no recipe; an object, or a list of them, is needed")
    found: dict[str, Recipe] = {}
    for number, one in enumerate(values, start=1):
        recipe = _recipe(one, where, f"recipes[{number}].")
        if recipe.route in found:
            raise UserError(f"{where}: recipes[{number}].route: {recipe.route} has a recipe already")
        found[recipe.route] = recipe
    return tuple(found.values())


def _recipe(values: object, where: str, prefix: str) -> Recipe:
    table = _table(values, where, prefix)
    route = _route(table)
    body, origin = _body(table)
    headers = _headers(table)
    coding = headers.pop("content-encoding", "identity")
    connection = headers.pop("connection", "keep-alive")
    limit, seed = table.take("limit", int, None), table.take("seed", int, SEED)
    if limit is not None and limit < 1:
        raise table.error("limit", f"is {limit}; a whole number of 1 or more is needed")
    stages = _stages(table)
    table.nothing_else()
    assert isinstance(values, dict)
    return Recipe(
        stages,
        route,
        body,
        origin,
        tuple(headers.items()),
        coding == "gzip",
        connection == "close",
        limit,
        seed,
        values,
    )


def _table(values: object, where: str, prefix: str) -> TomlTable:
    if not isinstance(values, dict):
        raise UserError(f"{where}: {prefix.rstrip('.') or 'it'} is {quoted(values)}; an object is needed")
    # A null says what leaving the key out says: recipes are often written by programs.
    return TomlTable({key: value for key, value in values.items() if value is not None}, where, prefix)


def _given(table: TomlTable, key: str, default: object) -> Any:
    """The value of a key, of whatever type."""
    table.known.append(key)
    return table.left.pop(key, default)


def _route(table: TomlTable) -> str:
    route: str = table.take("route", str, EVERYTHING)
    if not _ROUTE.fullmatch(route):
        raise table.error(
            "route", f"is {quoted(route)}; a path is needed, such as /news, or with * at its end what it begins with"
        )
    if route.startswith(ADMIN):
        raise table.error("route", f"is {quoted(route)}; what is below {ADMIN} the origin answers itself")
    return route


def _body(table: TomlTable) -> tuple[Content, str | None]:
    given = {
        key: text for key in ("body", "random_content", "origin") if (text := table.take(key, str, None)) is not None
    }
    if len(given) > 1:
        raise table.error(" and ".join(given), "exclude each other; one of them is needed")
    for key, text in given.items():
        try:
            if key == "origin":
                loopback.parse(text)
                return Content(), text
            return (content.of_text if key == "body" else content.of_size)(text), None
        except UserError as error:
            raise table.error(key, str(error)) from None
    return Content(), None


def _headers(table: TomlTable) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in table.take("headers", dict, {}).items():
        key, lower = f"headers.{name}", name.lower()
        if not _HEADER.fullmatch(name):
            raise table.error("headers", f"holds {quoted(name)}, which cannot be the name of a header")
        if lower in _OURS:
            raise table.error(key, "is what the origin says itself; leave it out")
        if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
            raise table.error(key, f"is {quoted(value)}; a text of one line is needed")
        if lower == "content-encoding" and value not in ("gzip", "identity"):
            raise table.error(key, f"is {quoted(value)}; allowed: gzip, identity")
        if lower == "connection" and value not in ("close", "keep-alive"):
            raise table.error(key, f"is {quoted(value)}; allowed: close, keep-alive")
        headers[lower] = value
    return headers


def _stages(table: TomlTable) -> tuple[Stage, ...]:
    listed: list[object] = table.take("stages", list)
    if not listed:
        raise table.error("stages", 'is empty; a stage is needed, such as {"at": 0, "latency": "1s"}')
    stages: list[Stage] = []
    for number, values in enumerate(listed, start=1):
        inner = _table(values, table.where, f"{table.prefix}stages[{number}].")
        stage = _stage(inner)
        if not stages and stage.at_s:
            raise inner.error("at", "is not 0; the first stage begins at 0")
        if stages and stage.at_s <= stages[-1].at_s:
            raise inner.error("at", "is not after that of the stage before; stages stand in the order of their times")
        stages.append(stage)
    return tuple(stages)


def _stage(table: TomlTable) -> Stage:
    at = _given(table, "at", None)
    if at is None:
        raise table.error("at", 'is missing; a time is needed, such as 0 or "10s"')
    stage = Stage(
        at_s=_seconds(table, "at", at, MOST_STAGE_S),
        status=_status(table, "status", 200),
        latency=_latency(table),
        failures=_share(table, "failures"),
        failure_status=_status(table, "failure_status", 500),
        resets=_share(table, "resets"),
        stalls=_share(table, "stalls"),
    )
    if (whole := stage.failures + stage.resets + stage.stalls) > 1 + 1e-9:
        raise table.error("failures, resets and stalls", f"are {whole:g} together; at most 1 is all there is")
    table.nothing_else()
    return stage


def _seconds(table: TomlTable, key: str, value: object, most_s: float) -> float:
    try:
        return amounts.seconds(value, most_s)
    except UserError as error:
        raise table.error(key, str(error)) from None


def _status(table: TomlTable, key: str, default: int) -> int:
    status: int = table.take(key, int, default)
    if not 200 <= status <= 599:
        raise table.error(key, f"is {status}; a status from 200 to 599 is needed")
    return status


def _share(table: TomlTable, key: str) -> float:
    share = float(table.take(key, float, 0.0))
    if not 0 <= share <= 1:  # true for NaN as well
        raise table.error(key, f"is {share:g}; a share from 0 to 1 is needed, such as 0.01")
    return share


def _latency(table: TomlTable) -> Distribution:
    value = _given(table, "latency", 0)
    if isinstance(value, dict):
        outer = _table(value, table.where, f"{table.prefix}latency.")
        inner = _table(outer.take("lognormal", dict), table.where, f"{table.prefix}latency.lognormal.")
        outer.nothing_else()
        median, p99 = (_needed(inner, key) for key in ("median", "p99"))
        inner.nothing_else()
        if not 0 < median < p99:
            raise inner.error("p99", "is not over the median, or the median is 0; both are needed")
        return Lognormal(median, p99)
    if isinstance(value, str) and ".." in value:
        first, _, last = value.partition("..")
        low, high = (_seconds(table, "latency", one, latencies.MOST_S) for one in (first, last))
        if low > high:
            raise table.error("latency", f"is {quoted(value)}; the smaller time stands first")
        return Uniform(low, high)
    return Constant(_seconds(table, "latency", value, latencies.MOST_S))


def _needed(table: TomlTable, key: str) -> float:
    value = _given(table, key, None)
    if value is None:
        raise table.error(key, 'is missing; a time is needed, such as "50ms"')
    return _seconds(table, key, value, latencies.MOST_S)
