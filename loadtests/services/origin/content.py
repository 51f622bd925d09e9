"""What an origin answers with: texts, and random bytes between them that a seed decides."""

from __future__ import annotations

import base64
import dataclasses
import random
import re

from loadtests.errors import UserError
from loadtests.services.origin import amounts

MOST_BYTES = 64 * 1024**2  # of all bodies of an origin: they are held in memory

_INSERTION = re.compile(r"<<([^<>]*)>>")


@dataclasses.dataclass(frozen=True)
class Content:
    """A body: bytes as they are, and for each number so many random ones."""

    parts: tuple[bytes | int, ...] = ()

    @property
    def size(self) -> int:
        """Its bytes."""
        return sum(part if isinstance(part, int) else len(part) for part in self.parts)

    def made(self, seed: str) -> bytes:
        """The body; the same seed makes the same."""
        chance = random.Random(seed)
        return b"".join(_random(part, chance) if isinstance(part, int) else part for part in self.parts)


def of_text(text: str) -> Content:
    """The content of a ``body``: ``<<256kb>>`` in it stands for so much random content.

    Raises UserError, whose text goes on after the name of the key.
    """
    # Of what is split by a pattern with one group, every second part is what the group matched.
    split = _INSERTION.split(text)
    parts: list[bytes | int] = []
    for place, part in enumerate(split):
        try:
            parts.append(amounts.size(part) if place % 2 else part.encode())
        except UnicodeEncodeError:
            raise UserError("holds half of a surrogate pair, which is no text") from None
        except UserError as error:
            raise UserError(f"holds <<...>>, which {error}") from None
    return _bounded(Content(tuple(part for part in parts if part)))


def of_size(text: str) -> Content:
    """The content of a ``random_content``, likewise."""
    return _bounded(Content((amounts.size(text),)))


def _bounded(content: Content) -> Content:
    if content.size > MOST_BYTES:
        raise UserError(
            f"makes {content.size / 1024**2:,.0f} MB; at most {MOST_BYTES // 1024**2} MB are allowed (they are held "
            "in memory)"
        )
    return content


def _random(size: int, chance: random.Random) -> bytes:
    """Random characters of base64, which fit into JSON and HTML."""
    return base64.b64encode(chance.randbytes(-(-size * 3 // 4)))[:size]


def require_room(size: int) -> None:
    """Raises UserError where so many bytes are more than an origin holds."""
    if size > MOST_BYTES:
        raise UserError(
            f"the bodies are {size / 1024**2:,.0f} MB together; at most {MOST_BYTES // 1024**2} MB are allowed (they "
            "are held in memory)"
        )
