"""Times and sizes as recipes write them: ``0``, ``"50ms"``, ``"1s"``, ``"256kb"``."""

from __future__ import annotations

import re

from loadtests.errors import UserError, quoted

_TIME = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ms|s|m)")
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000}
_SIZE = re.compile(r"([0-9]{1,12})(b|kb|mb)")
_BYTES = {"b": 1, "kb": 1024, "mb": 1024**2}


def seconds(value: object, most_s: float) -> float:
    """The seconds of a time of at most ``most_s``. Raises UserError, whose text goes on after the name of the key."""
    if not isinstance(value, (bool, str)) and value == 0:
        return 0.0
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise UserError(f'is {quoted(value)}; a time of 0 or more is needed, such as 0, "50ms", "1s" or "2m"')
    found = float(match[1]) * _MILLISECONDS[match[2]] / 1000
    if found > most_s:
        raise UserError(f"is {quoted(value)}; at most {most_s / 60:g}m is allowed")
    return found


def size(value: str) -> int:
    """The bytes of a size. Raises UserError, likewise."""
    match = _SIZE.fullmatch(value)
    if match is None:
        raise UserError(f'is {quoted(value)}; a size is needed, such as "512b", "256kb" or "2mb"')
    return int(match[1]) * _BYTES[match[2]]
