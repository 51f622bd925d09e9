"""Works and paces as the keys of a test's table in TOML, and as fields in run.json.

A field is described once, with its bounds, in the dataclass that has it. Its key is the field's name without ``_s``;
``metadata={"key": ...}`` gives another one, or None where the field is no key: it is found out from others. ``KEYS``
of a class are keys without a field of their own.
"""

from __future__ import annotations

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

Keys = dict[str, tuple[Any, Any]]  # the type and the default of each key
NEEDED = msgspec.NODEFAULT


@dataclasses.dataclass(frozen=True)
class TablePlace:
    """Where a table stands: the file, the path in it, and the folder that paths start from."""

    file: str
    prefix: str

    @property
    def folder(self) -> Path:
        return Path(self.file).parent

    def inside(self, key: str, name: str) -> Path:
        """The file that a key names. Raises UserError where there is none below the folder."""
        try:
            return files.inside(self.folder, name)
        except UserError as error:
            raise self.error(f"{key}: {error}") from None

    def error(self, text: str) -> UserError:
        return UserError(f"{self.file}: {self.prefix}{text}")


class Fields:
    """A part of a test: a dataclass that is read from keys of its table."""

    KEYS: ClassVar[Keys] = {}

    @classmethod
    def keys(cls, values: Mapping[str, Any]) -> Keys:
        """The keys that it takes of a table with those values."""
        return {**cls.KEYS, **_field_keys(cls)}

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        """Whether the keys of a table, or fields of a record that are not empty, choose this one of several."""
        return False

    @classmethod
    def from_keys(cls, values: Mapping[str, Any], place: TablePlace) -> Self:
        """The part with the values of its keys. Raises ValueError that begins with a key, or UserError."""
        return cls(**cls.own(values))

    @classmethod
    def own(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of its fields that are keys."""
        names = {_key(field): field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        return {names[key]: value for key, value in values.items() if key in names}

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> Self:
        return msgspec.convert(values, cls)

    def record(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]


def chosen(parts: Iterable[type[Fields]], values: Mapping[str, Any]) -> Any:
    """The part that the values choose: the last one where they choose none."""
    *others, last = parts
    given = {key: value for key, value in values.items() if value is not None and value not in ([], ())}
    return next((part for part in others if part.fits(given)), last)


def read(values: Mapping[str, Any], keys: Keys, place: TablePlace) -> dict[str, Any]:
    """The values of a table that has these keys, with defaults where they are not given. Raises UserError."""
    needed = [(key, kind) for key, (kind, default) in keys.items() if default is NEEDED]
    optional = [(key, kind, default) for key, (kind, default) in keys.items() if default is not NEEDED]
    table = msgspec.defstruct("Table", [*needed, *optional], kw_only=True)
    return msgspec.structs.asdict(decode.convert(dict(values), table, place.file, place.prefix))


def merged(chosen_keys: Keys, others: Iterable[Keys]) -> Keys:
    """The keys of the parts that were chosen; where a key chooses between parts, its type is that of all of them."""
    found = dict(chosen_keys)
    for keys in others:
        for key, (kind, _) in keys.items():
            if key in found and found[key][0] != kind:
                found[key] = (Union[found[key][0], kind], found[key][1])  # noqa: UP007 - of types that are values
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
    """A few letters that differ where what is sent does."""
    return hashlib.sha256(json.dumps(sends).encode()).hexdigest()[:8]
