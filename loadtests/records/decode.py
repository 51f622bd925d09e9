"""Convert TOML and JSON files that people write to msgspec types.

An error message is one line with the file, the path, the value and the allowed values. A type is a dataclass or a
``msgspec.Struct``, and describes each field once. ``Annotated[..., Meta(...)]`` contains the bounds of a field and its
``description``::

    class LatencyTable(msgspec.Struct, kw_only=True):
        rate: Annotated[Positive | Literal["auto"], Meta(description="Requests per second.")]
        duration: Duration
        pace: Literal["even", "recorded"] = "even"

        def __post_init__(self) -> None:
            if self.rate == "auto" and self.pace == "recorded":
                raise ValueError("rate: 'auto' can't be combined with pace = 'recorded'")

    table = decode.convert(values, LatencyTable, "mine.toml", "tests.latency.")

- Unknown keys are errors at every level. The message contains the nearest known key.
- A field of type ``Duration`` (or another type with ``extra={"duration": True}``) is a number of seconds or a string
  such as ``"500ms"``.
- To check several fields together, raise a ValueError in ``__post_init__``. Start its message with the name of a field
  and a colon.
- ``Meta(extra={"allowed": "..."})`` describes the allowed values if the bounds can't, for example for a pattern.
- msgspec 0.22 crashes with a union of a fixed-length tuple and a number with bounds. Use a list instead of the tuple.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, inspect

from loadtests import files
from loadtests.errors import UserError, quoted, shown
from loadtests.records.bounds import VAST

T = TypeVar("T")

MAX_BYTES = 64_000_000  # a recording of 100,000 requests with bodies is smaller
SHORTEST_S = 0.001
LONGEST_S = 7 * 24 * 3600.0
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}

Duration = Annotated[float, Meta(ge=SHORTEST_S, le=LONGEST_S, extra={"duration": True})]


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        UserError: If the file can't be read or isn't valid TOML.
    """
    try:
        return tomllib.loads(files.read(path, MAX_BYTES).decode())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # invalid TOML, invalid UTF-8, or a number of thousands of digits
        raise UserError(f"{path}: not valid TOML: {error}") from None


def read_json(text: bytes, where: str) -> Any:
    """Decode JSON, and leave out keys with the value null.

    Raises:
        UserError: If the text isn't valid JSON. The message starts with ``where``.
    """
    try:
        return json.loads(
            text, object_pairs_hook=lambda pairs: {key: value for key, value in pairs if value is not None}
        )
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: not valid JSON: {error}") from None


def convert(values: object, kind: type[T], where: str, prefix: str = "") -> T:
    """Convert the values of a file to a type.

    Args:
        values: The values, as they were read from the file.
        kind: The type to convert to.
        where: The name of the file, for messages.
        prefix: The path of the values in the file, such as ``tests.latency.``, for messages.

    Raises:
        UserError: If a value isn't allowed.
    """
    checked = _checked(values, type_info(kind), f"{where}: {prefix}", "")
    try:
        return msgspec.convert(checked, kind)
    except msgspec.ValidationError as error:
        raise UserError(f"{where}: {_explained(error, checked, kind, prefix)}") from None


def duration(value: object, least_s: float = SHORTEST_S) -> float:
    """Convert a duration such as ``'10s'``, ``'1.5m'``, ``'200ms'`` or ``'1h'``, or a number, to seconds.

    Raises:
        UserError: If the value isn't a duration, or is shorter than ``least_s`` or longer than a week.
    """
    text = value if isinstance(value, str) else quoted(value)
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(ms|s|m|min|h)?\s*", text)
    if isinstance(value, bool) or match is None:
        raise UserError(f"{quoted(value)} is not a duration. Write 10s, 500ms, 2m or 1h")
    seconds = float(match[1]) * UNITS[match[2] or "s"]
    if not least_s <= seconds <= LONGEST_S:
        raise UserError(f"{quoted(value)} is not a valid duration. It must be between {least_s * 1000:g}ms and a week")
    return seconds


type_info: Callable[[Any], inspect.Type] = functools.cache(inspect.type_info)


def allowed(kind: inspect.Type) -> str:
    """Describe the allowed values of a type, for errors and for the tables of the reference pages."""
    if isinstance(kind, inspect.Metadata):
        extra = kind.extra or {}
        if "allowed" in extra:
            return str(extra["allowed"])
        return (
            f"a duration such as 10s or 500ms,{_range(kind.type)} seconds"
            if "duration" in extra
            else allowed(kind.type)
        )
    if isinstance(kind, inspect.UnionType):
        return " or ".join(allowed(one) for one in kind.types if not isinstance(one, inspect.NoneType))
    if isinstance(kind, inspect.LiteralType):
        names = [repr(value) for value in kind.values]
        return " or ".join(names) if len(names) <= 2 else f"one of {', '.join(names)}"
    if isinstance(kind, (inspect.ListType, inspect.VarTupleType)):
        return "a list" + (" that is not empty" if kind.min_length else "")
    if isinstance(kind, (inspect.IntType, inspect.FloatType)):
        return ("a whole number" if isinstance(kind, inspect.IntType) else "a number") + _range(kind)
    return next(words for types, words in _WORDS if isinstance(kind, types))


_WORDS: tuple[tuple[Any, str], ...] = (
    (inspect.BoolType, "true or false"),
    (inspect.StrType, "a text"),
    ((inspect.TupleType, inspect.SetType, inspect.FrozenSetType), "a list"),
    ((inspect.DictType, inspect.DataclassType, inspect.StructType), "a table"),
    (inspect.Type, "a value"),
)


def _range(kind: inspect.Type) -> str:
    """Describe the bounds of a number's type."""
    bounds = {name: getattr(kind, name, None) for name in ("gt", "ge", "lt", "le")}
    known = {name: round(bound, 9) for name, bound in bounds.items() if bound is not None and abs(bound) < VAST}
    if known.keys() == {"ge", "le"}:
        return f" from {known['ge']:,.15g} to {known['le']:,.15g}"
    words = {"gt": "above", "ge": "of at least", "lt": "below", "le": "up to"}
    return " and".join(f" {words[name]} {bound:,.15g}" for name, bound in known.items())


def _checked(value: Any, kind: inspect.Type, where: str, path: str) -> Any:
    """Return a value after converting its durations to seconds.

    Raises:
        UserError: If a key isn't a field, or the text of a duration isn't valid.
    """
    options = _options(kind)
    if isinstance(value, dict):
        for one in options:
            if isinstance(one, (inspect.DataclassType, inspect.StructType)):
                known = {field.encode_name: field.type for field in one.fields}
                for key in value:
                    if key not in known:
                        raise UserError(f"{where}{_joined(path, key)}: {_unknown_key(key, known)}")
                return {key: _checked(inner, known[key], where, _joined(path, key)) for key, inner in value.items()}
            if isinstance(one, inspect.DictType):
                return {key: _checked(inner, one.value_type, where, _joined(path, key)) for key, inner in value.items()}
    if isinstance(value, list):
        for one in options:
            if isinstance(one, (inspect.ListType, inspect.VarTupleType)):
                return [
                    _checked(inner, one.item_type, where, f"{path}[{number}]") for number, inner in enumerate(value, 1)
                ]
    return _seconds(value, options, where + path)


def _seconds(value: Any, options: list[inspect.Type], place: str) -> Any:
    """Convert the text of a duration to seconds. Other values are returned unchanged.

    Raises:
        UserError: If the type is a duration, but the text isn't a valid duration.
    """
    words = [text for one in options if isinstance(one, inspect.LiteralType) for text in one.values]
    timed = next((one for one in options if isinstance(one, inspect.Metadata)), None)
    if timed is None or not isinstance(value, str) or value in words:
        return value
    try:
        return duration(value, getattr(timed.type, "ge", None) or 0.0)
    except UserError as error:
        raise UserError(f"{place}: {error}{''.join(f', or {word!r}' for word in words)}") from None


def _options(kind: inspect.Type) -> list[inspect.Type]:
    """Return the types that a value may have. Except for durations, remove the ``Metadata`` around each type."""
    if isinstance(kind, inspect.Metadata) and "duration" not in (kind.extra or {}):
        return _options(kind.type)
    return [inner for one in kind.types for inner in _options(one)] if isinstance(kind, inspect.UnionType) else [kind]


def _joined(path: str, key: str) -> str:
    return f"{path}.{shown(key)}" if path else shown(key)


def _unknown_key(key: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    nearest = f"Did you mean {near[0]}? " if near else ""
    return f"is not a known key. {nearest}Allowed: {', '.join(sorted(known))}"


_ERROR = re.compile(r"(?P<what>.*?)(?: - at (?P<of_key>`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_MISSING = re.compile(r"Object missing required field `(.*)`")
_RULE = re.compile(r"[A-Za-z_][\w.\[\]]*: ")


def _explained(error: msgspec.ValidationError, values: Any, kind: Any, prefix: str) -> str:
    """Describe an error by its path, the value and the allowed values."""
    match = _ERROR.fullmatch(str(error))
    assert match
    path, inner, given = "", type_info(kind), f", not {quoted(values)}"
    value = values
    for field, place in _STEP.findall(match["path"] or ""):
        if place == "...":  # msgspec doesn't report the key in a dict
            path, inner, value, given = f"{path}[...]", _item_type(inner, ""), {}, ""
            continue
        key = field or int(place)
        inner = _item_type(inner, key)
        path = _joined(path, field) if field else f"{path}[{key + 1}]"
        if given:
            value = value[key]
            given = f", not {quoted(value)}"
    if isinstance(error.__cause__, ValueError):
        text = str(error.__cause__)
        return prefix + path + (("." if _RULE.match(text) else ": ") if path else "") + text
    if missing := _MISSING.fullmatch(match["what"]):
        return f"{prefix}{_joined(path, missing[1])}: is missing. It must be {allowed(_item_type(inner, missing[1]))}"
    if match["of_key"]:
        inner = next(one.key_type for one in _options(inner) if isinstance(one, inspect.DictType))
        return f"{prefix}{path}: contains an invalid name. It must be {allowed(inner)}"
    return f"{prefix + path if path else prefix.rstrip('.') or 'it'}: must be {allowed(inner)}{given}"


def _item_type(kind: inspect.Type, key: str | int) -> inspect.Type:
    """Return the type of a field, or of an item of a list or dict."""
    for one in _options(kind):
        if isinstance(one, (inspect.DataclassType, inspect.StructType)):
            return next(field.type for field in one.fields if field.encode_name == key)
        if isinstance(one, inspect.DictType) and isinstance(key, str):
            return one.value_type
        if isinstance(one, (inspect.ListType, inspect.VarTupleType)):
            return one.item_type
        if isinstance(one, inspect.TupleType) and isinstance(key, int):
            return one.item_types[key]
    raise AssertionError(kind)
