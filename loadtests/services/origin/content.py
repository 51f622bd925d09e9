"""Generate the bodies of an origin: texts that can contain seeded random bytes."""

from __future__ import annotations

import base64
import dataclasses
import random
import re

from loadtests.errors import UserError, quoted

MAX_BYTES = 64 * 1024**2  # maximum size of all bodies of an origin, because they are in memory

_SIZE = re.compile(r"([0-9]{1,12})(b|kb|mb)")
_BYTES = {"b": 1, "kb": 1024, "mb": 1024**2}
_INSERTION = re.compile(r"<<([^<>]*)>>")


@dataclasses.dataclass(frozen=True)
class Content:
    """The parts of a body. A part is either fixed bytes or a number of random bytes."""

    parts: tuple[bytes | int, ...] = ()

    @property
    def size(self) -> int:
        """The size in bytes."""
        return sum(part if isinstance(part, int) else len(part) for part in self.parts)

    def make(self, seed: str) -> bytes:
        """Generate the body. The same seed generates the same body."""
        chance = random.Random(seed)
        return b"".join(_random(part, chance) if isinstance(part, int) else part for part in self.parts)


def of_text(text: str) -> Content:
    """Parse a ``body``. ``<<256kb>>`` is a placeholder for 256 KiB of random bytes.

    Raises:
        ValueError: If the text isn't valid or the body is too large.
    """
    # A split by a pattern with one group returns the group's matches at the odd indexes.
    split = _INSERTION.split(text)
    try:
        parts = [_size(part) if place % 2 else part.encode() for place, part in enumerate(split)]
    except UnicodeEncodeError:
        raise ValueError("contains half of a surrogate pair, which isn't text") from None
    return _bounded(Content(tuple(part for part in parts if part)))


def of_size(text: str) -> Content:
    """Parse a ``random_content``, such as ``256kb``.

    Raises:
        ValueError: If the size isn't valid or too large.
    """
    return _bounded(Content((_size(text),)))


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f'contains {quoted(text)}, which must be a size such as "512b", "256kb" or "2mb"')
    return int(match[1]) * _BYTES[match[2]]


def _bounded(content: Content) -> Content:
    if content.size > MAX_BYTES:
        raise ValueError(_too_much(content.size))
    return content


def _random(size: int, chance: random.Random) -> bytes:
    """Return random base64 characters, which are valid in JSON and HTML."""
    return base64.b64encode(chance.randbytes(-(-size * 3 // 4)))[:size]


def require_room(size: int) -> None:
    """Check the total size of the bodies.

    Raises:
        UserError: If the bodies together are larger than MAX_BYTES.
    """
    if size > MAX_BYTES:
        raise UserError(f"the bodies together: {_too_much(size)}")


def _too_much(size: int) -> str:
    return f"{size / 1024**2:,.0f} MB; at most {MAX_BYTES // 1024**2} MB are allowed (bodies are kept in memory)"
