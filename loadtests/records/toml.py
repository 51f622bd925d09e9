"""A table of a TOML file, read key by key, so that every mistake is said with its place and what is allowed."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Any

from loadtests import files
from loadtests.errors import UserError, quoted, shown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST_BYTES = 64_000_000  # of a file: a recording of 100,000 requests with bodies takes less

_TYPES = {
    bool: "true or false",
    str: "a text",
    list: "a list",
    dict: "a table",
    int: "a whole number",
    float: "a number",
}
_NEEDED: Any = object()
MOST = 10**15  # whatever number it is
SHORTEST_S = 0.001  # of what takes time at all


def read(path: Path) -> dict[str, Any]:
    """What a TOML file holds. Raises UserError: the file, and what is wrong."""
    try:
        return tomllib.loads(files.read(path, MOST_BYTES).decode())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:  # TOML that is none, text that is none, or a number of thousands of digits
        raise UserError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise UserError(f"{path}: not valid TOML: lists or tables are nested too deeply") from None


class TomlTable:
    """A TOML table whose keys are taken one by one; what is left over was a mistake."""

    def __init__(self, values: dict[str, Any], where: str, prefix: str = "") -> None:
        self.left = dict(values)
        self.known: list[str] = []
        self.where = where
        self.prefix = prefix

    def take(self, key: str, kind: type, default: Any = _NEEDED) -> Any:
        """The value of a key. As the others, raises UserError where it is of another kind, or missing and needed."""
        self.known.append(key)
        if key not in self.left:
            if default is _NEEDED:
                raise self.error(key, f"is missing; {_TYPES[kind]} is needed")
            return default
        value = self.left.pop(key)
        fits = isinstance(value, (int, float)) if kind is float else isinstance(value, kind)
        if not fits or isinstance(value, bool) != (kind is bool):
            raise self.error(key, f"is {quoted(value)}; {_TYPES[kind]} is needed")
        if isinstance(value, int) and abs(value) > MOST:
            raise self.error(key, f"is {quoted(value)}; no number here is that large")
        return value

    def choice(self, key: str, allowed: tuple[str, ...], default: str | None) -> str:
        """One of some words; None as the default where it must be said."""
        value: str = self.take(key, str, _NEEDED if default is None else default)
        if value not in allowed:
            raise self.error(key, f"is {value!r}; allowed: {', '.join(allowed)}")
        return value

    def positive(self, key: str, default: Any = _NEEDED) -> Any:
        """A number above 0."""
        value = self.take(key, float, default)
        if value is None:
            return None
        value = float(value)
        if not (math.isfinite(value) and value > 0):
            raise self.error(key, f"is {value:g}; a number above 0 is needed")
        return value

    def positive_or(self, key: str, word: str) -> float | None:
        """A number above 0; None where the word stands in its place."""
        if self.left.get(key) == word:
            self.known.append(key)
            del self.left[key]
            return None
        if isinstance(self.left.get(key), str):
            raise self.error(key, f"is {quoted(self.left[key])}; a number above 0, or {word!r}, is needed")
        number: float = self.positive(key)
        return number

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; none where the key is not there."""
        values: list[object] = self.take(key, list, [])
        for value in values:
            if not isinstance(value, str):
                raise self.error(key, f"holds {value!r}; a list of texts is needed")
        return tuple(map(str, values))

    def whole(self, key: str, default: int, most: int = MOST) -> int:
        """A whole number from 1 to ``most``."""
        value: int = self.take(key, int, default)
        if not 1 <= value <= most:
            raise self.error(key, f"is {value}; a whole number from 1 to {most:,} is needed")
        return value

    def share(self, key: str, default: float) -> float:
        """A number between 0 and 1."""
        value = float(self.take(key, float, default))
        if not 0 < value < 1:
            raise self.error(key, f"is {value:g}; a share between 0 and 1 is needed, such as 0.03")
        return value

    def seconds(self, key: str, default: float = _NEEDED, least_s: float = SHORTEST_S) -> float:
        """A duration of ``least_s`` or more, in seconds."""
        self.known.append(key)
        if key not in self.left:
            if default is _NEEDED:
                raise self.error(key, "is missing; a duration such as '10s' is needed")
            return default
        try:
            return duration(self.left.pop(key), least_s)
        except UserError as error:
            raise self.error(key, str(error)) from None

    def span(self, key: str, default: tuple[float, float]) -> tuple[float, float]:
        """A duration, or a list of two, the shorter one first: from and to, in seconds."""
        self.known.append(key)
        if key not in self.left:
            return default
        value = self.left.pop(key)
        ends = value if isinstance(value, list) else [value, value]
        try:
            least, most = map(duration, ends)
        except (UserError, ValueError) as error:
            why = str(error) if isinstance(error, UserError) else f"holds {len(ends)}"
            raise self.error(key, f"{why}; a duration is needed, or two of them, such as ['1s', '2s']") from None
        if least > most:
            raise self.error(key, f"is from {least:g} to {most:g} s; the shorter one is first")
        return least, most

    def nothing_else(self) -> None:
        """Raises UserError for a key that was not taken."""
        for key in self.left:
            raise self.error(key, f"is not a key here; allowed: {', '.join(sorted(set(self.known)))}")

    def error(self, key: str, what: str) -> UserError:
        """The error for a key: the file, the key and what is wrong."""
        return UserError(f"{self.where}: {self.prefix}{shown(key)}: {what}")


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def duration(value: object, least_s: float = SHORTEST_S) -> float:
    """Seconds from ``'10s'``, ``'1.5m'``, ``'200ms'``, ``'1h'`` or a bare number of seconds. Raises UserError, also for
    fewer than ``least_s``."""
    text = value if isinstance(value, str) else quoted(value)
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(ms|s|m|min|h)?\s*", text)
    if isinstance(value, bool) or match is None:
        raise UserError(f"{quoted(value)} is not a duration; write 10s, 500ms, 2m or 1h")
    seconds = float(match[1]) * _UNITS[match[2] or "s"]
    if not least_s <= seconds <= 7 * 24 * 3600:
        raise UserError(f"{quoted(value)} is not a usable duration; between {least_s * 1000:g}ms and a week is")
    return seconds
