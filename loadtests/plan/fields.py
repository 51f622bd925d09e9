"""Convert tests and paces between the keys of a test's TOML table and the fields in run.json.

A dataclass describes each of its fields once, with bounds. The key of a field is the name of the field without ``_s``.
To override the key, use ``metadata={"key": ...}``. If the key is None, the field can't be set in the table, because it
is computed from other fields. The ``KEYS`` of a class are keys without a field.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

import msgspec

from loadtests import files
from loadtests.errors import UserError
from loadtests.records import decode

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
    """A dataclass that is read from keys of a test's table."""

    KEYS: ClassVar[Keys] = {}

    @classmethod
    def keys(cls, values: Mapping[str, Any]) -> Keys:
        """Return the keys that the class accepts in a table with these values, with their types and defaults."""
        hints = get_type_hints(cls, include_extras=True)
        found = dict(cls.KEYS)
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            if (key := _key(field)) is not None:
                default = NEEDED if field.default is dataclasses.MISSING else field.default
                found[key] = (hints[field.name], default)
        return found

    @classmethod
    def own(cls, values: Mapping[str, Any], place: TablePlace) -> dict[str, Any]:
        """Return the values of the fields, by name, from the values of all keys.

        Raises:
            ValueError: If a value isn't valid. The text starts with the key.
            UserError: If a file can't be read.
        """
        names = {_key(field): field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        return {names[key]: value for key, value in values.items() if key in names}

    def record(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]


def read(values: Mapping[str, Any], keys: Keys, place: TablePlace) -> dict[str, Any]:
    """Read a table with these keys, and add the defaults of missing keys.

    Raises:
        UserError: If a value isn't allowed.
    """
    types = [(key, kind, msgspec.field(default=default)) for key, (kind, default) in keys.items()]
    table = msgspec.defstruct("Table", types, kw_only=True)
    return msgspec.structs.asdict(decode.convert(dict(values), table, place.file, place.prefix))


def _key(field: dataclasses.Field[Any]) -> str | None:
    key: str | None = field.metadata.get("key", field.name.removesuffix("_s"))
    return key
