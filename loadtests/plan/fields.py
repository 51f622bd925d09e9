"""Convert works and paces between the keys of a test's TOML table and the fields in run.json.

A dataclass describes each of its fields once, with bounds. The key of a field is the name of the field without ``_s``.
To override the key, use ``metadata={"key": ...}``. If the key is None, the field can't be set in the table, because it
is computed from other fields. The ``KEYS`` of a class are keys without a field.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Union, get_type_hints

import msgspec

from loadtests import files
from loadtests.errors import UserError
from loadtests.records import decode

if TYPE_CHECKING:
    from typing import Self

Keys = dict[str, tuple[Any, Any]]  # key -> type and default
NEEDED = msgspec.NODEFAULT


@dataclasses.dataclass(frozen=True)
class TablePlace:
    """The place of a TOML table: the file, the table's path in the file, and the folder for relative paths."""

    file: str
    prefix: str

    @property
    def folder(self) -> Path:
        return Path(self.file).parent

    def inside(self, key: str, name: str) -> Path:
        """Return the path of the file that a key names.

        Raises:
            UserError: If the folder contains no such file.
        """
        try:
            return files.inside(self.folder, name)
        except UserError as error:
            raise self.error(f"{key}: {error}") from None

    def error(self, text: str) -> UserError:
        return UserError(f"{self.file}: {self.prefix}{text}")


class Fields:
    """A part of a test: a dataclass that is read from keys of the test's table."""

    KEYS: ClassVar[Keys] = {}

    @classmethod
    def keys(cls, values: Mapping[str, Any]) -> Keys:
        """Return the keys that the part accepts in a table with these values."""
        return {**cls.KEYS, **_field_keys(cls)}

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        """Return whether the keys of a table, or the non-empty fields of a record, select this part."""
        return False

    @classmethod
    def from_keys(cls, values: Mapping[str, Any], place: TablePlace) -> Self:
        """Create the part from the values of its keys.

        Raises:
            ValueError: If a value isn't valid. The text starts with the key.
            UserError: If a file can't be read.
        """
        return cls(**cls.own(values))

    @classmethod
    def own(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the keys that belong to fields, by the names of the fields."""
        names = {_key(field): field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        return {names[key]: value for key, value in values.items() if key in names}

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Self:
        return msgspec.convert(values, cls)

    def record(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]


def chosen(parts: Iterable[type[Fields]], values: Mapping[str, Any]) -> Any:
    """Return the part that the values select, or else the last part."""
    *others, last = parts
    given = {key: value for key, value in values.items() if value is not None and value not in ([], ())}
    return next((part for part in others if part.fits(given)), last)


def read(values: Mapping[str, Any], keys: Keys, place: TablePlace) -> dict[str, Any]:
    """Read a table with these keys, and add the defaults of missing keys.

    Raises:
        UserError: If a value isn't allowed.
    """
    types = tuple((key, kind, default is NEEDED) for key, (kind, default) in keys.items())
    found: Any = decode.convert(dict(values), _table(types, repr(types)), place.file, place.prefix)
    given = {key: getattr(found, key) for key in values}
    return {key: given[key] if key in given else copy.copy(default) for key, (_, default) in keys.items()}


@functools.cache
def _table(types: tuple[tuple[str, Any, bool], ...], text: str) -> type:
    """Return the type of a table. It is cached, because its creation takes longer than reading a study's tests.

    Equal unions can have different orders of types, which messages show. ``text`` distinguishes these unions.
    """
    needed = [(key, kind) for key, kind, is_needed in types if is_needed]
    optional = [(key, kind, None) for key, kind, is_needed in types if not is_needed]
    return msgspec.defstruct("Table", [*needed, *optional], kw_only=True)


def merged(chosen_keys: Keys, others: Iterable[Keys]) -> Keys:
    """Combine the keys of the selected parts.

    A key that selects between parts accepts the values of all parts.
    """
    found = dict(chosen_keys)
    for keys in others:
        for key, (kind, _) in keys.items():
            if key in found and found[key][0] != kind:
                found[key] = (Union[found[key][0], kind], found[key][1])  # noqa: UP007 - the types are values
    return found


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


def _field_keys(cls: type) -> Keys:
    found: Keys = {}
    for field in dataclasses.fields(cls):
        key = _key(field)
        if key is not None:
            default = NEEDED if field.default is dataclasses.MISSING else field.default
            found[key] = (_hints(cls)[field.name], default)
    return found


def _key(field: dataclasses.Field[Any]) -> str | None:
    key: str | None = field.metadata.get("key", field.name.removesuffix("_s"))
    return key


def digest(sends: Sequence[object]) -> str:
    """Return a short digest of requests or messages."""
    return hashlib.sha256(json.dumps(sends).encode()).hexdigest()[:8]
