"""What an origin answers with: texts, and random bytes between them that a seed decides."""

from __future__ import annotations

import base64
import dataclasses
import random
import re

from loadtests.errors import UserError, quoted

MOST_BYTES = 64 * 1024**2  # of all bodies of an origin: they are held in memory

_SIZE = re.compile(r"([0-9]{1,12})(b|kb|mb)")
_BYTES = {"b": 1, "kb": 1024, "mb": 1024**2}
_INSERTION = re.compile(r"<<([^<>]*)>>")


@dataclasses.dataclass(frozen=True)
class Content:
    """A body: bytes as they are, and for each number that number of random ones."""

    parts: tuple[bytes | int, ...] = ()

    @property
    def size(self) -> int:
        """Its bytes."""
        return sum(part if isinstance(part, int) else len(part) for part in self.parts)

    def make(self, seed: str) -> bytes:
        """The body; the same seed makes the same."""
        chance = random.Random(seed)
        return b"".join(_random(part, chance) if isinstance(part, int) else part for part in self.parts)


def of_text(text: str) -> Content:
    """The content of a ``body``: ``<<256kb>>`` in it stands for that number of random bytes. Raises ValueError."""
    # Of what is split by a pattern with one group, every second part is what the group matched.
    split = _INSERTION.split(text)
    try:
        parts = [_size(part) if place % 2 else part.encode() for place, part in enumerate(split)]
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair, which is no text") from None
    return _bounded(Content(tuple(part for part in parts if part)))


def of_size(text: str) -> Content:
    """The content of a ``random_content``, likewise."""
    return _bounded(Content((_size(text),)))


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f'has {quoted(text)} as a size; one such as "512b", "256kb" or "2mb" is needed')
    return int(match[1]) * _BYTES[match[2]]


def _bounded(content: Content) -> Content:
    if content.size > MOST_BYTES:
        raise ValueError(_too_much(content.size))
    return content


def _random(size: int, chance: random.Random) -> bytes:
    """Random characters of base64, which fit into JSON and HTML."""
    return base64.b64encode(chance.randbytes(-(-size * 3 // 4)))[:size]


def require_room(size: int) -> None:
    """Raises UserError where all bodies together are more than an origin holds."""
    if size > MOST_BYTES:
        raise UserError(f"the bodies together: {_too_much(size)}")


def _too_much(size: int) -> str:
    return f"{size / 1024**2:,.0f} MB; at most {MOST_BYTES // 1024**2} MB are allowed (they are held in memory)"
