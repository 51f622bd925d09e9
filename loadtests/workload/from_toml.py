"""Requests as TOML holds them: in a workload file, in a study, in a test of one request."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loadtests import files
from loadtests.errors import UserError
from loadtests.records import toml
from loadtests.records.toml import MOST, TomlTable
from loadtests.workload.request import MOST_BODY_BYTES, Request, Workload


def read(path: Path) -> Workload:
    """The workload in a TOML file. Raises UserError: file, key, what is allowed."""
    table = TomlTable(toml.read(path), str(path))
    listed = table.take("requests", list)
    table.nothing_else()
    return parse(listed, str(path), "", path.parent)


def parse(listed: list[Any], where: str, prefix: str, folder: Path) -> Workload:
    """The workload of a list of tables. ``where`` and ``prefix`` say in errors where it stands; ``folder`` is what the
    paths in it start from. Raises UserError."""
    found: list[Request] = []
    at: list[tuple[float, ...]] = []
    for number, values in enumerate(listed, start=1):
        if not isinstance(values, dict):
            raise UserError(f"{where}: {prefix}requests: {values!r} is not a table; write {{ path = '/' }}")
        table = TomlTable(values, where, f"{prefix}requests[{number}].")
        times = table.take("at", list, [])
        if any(isinstance(time, bool) or not isinstance(time, (int, float)) or time > MOST for time in times):
            raise table.error("at", "is not a list of numbers; seconds after the start of the recording are needed")
        weight = float(table.take("weight", float, len(times) or 1))
        name = table.take("name", str, None)
        found.append(request(table, folder, weight, name))
        at.append(tuple(float(time) for time in times))
        table.nothing_else()
    try:
        return Workload(tuple(found), tuple(at) if any(at) else ())
    except UserError as error:
        raise UserError(f"{where}: {prefix}{error}") from None


def request(table: TomlTable, folder: Path, weight: float = 1.0, name: str | None = None) -> Request:
    """The request whose keys a table has, named after its method and path where it has no name.

    Raises UserError.
    """
    method, path = table.take("method", str, "GET"), table.take("path", str, "/")
    headers, body, status = _headers(table), _body(table, folder), table.take("status", int, 200)
    try:
        return Request(name or f"{method} {path}", method, path, headers, body, weight, status)
    except UserError as error:
        raise UserError(f"{table.where}: {table.prefix}{error}") from None


_READ_BODY: dict[str, Callable[[str, Path], bytes]] = {
    "body": lambda text, folder: text.encode(),
    "body_base64": lambda text, folder: base64.b64decode(text, validate=True),
    "body_file": lambda text, folder: files.read(folder / text, MOST_BODY_BYTES),
}


def _headers(table: TomlTable) -> tuple[tuple[str, str], ...]:
    headers = []
    for name, value in table.take("headers", dict, {}).items():
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, str):
                raise table.error(f"headers.{name}", f"is {one!r}; a text is needed, or a list of them")
            headers.append((name, one))
    return tuple(headers)


def _body(table: TomlTable, folder: Path) -> bytes | None:
    given = {key: text for key in _READ_BODY if (text := table.take(key, str, None)) is not None}
    if len(given) > 1:
        raise table.error(" and ".join(given), "are both given; a request has one body")
    for key, text in given.items():
        try:
            return _READ_BODY[key](text, folder)
        except binascii.Error as error:
            raise table.error(key, f"is not base64: {error}") from None
        except OSError as error:
            raise table.error(key, f"{text} cannot be read: {error.strerror}") from None
    return None
