"""What is known of the machine that an agent is on."""

from __future__ import annotations

import dataclasses

from loadtests.observe.processes import Part


@dataclasses.dataclass(frozen=True)
class Facts:
    """What an agent says of itself and its host once: the marker's token and revision, which files are there, where SSH
    came from and to, the machine's identity since its boot, and the processes that the connection takes there."""

    token: str
    revision: str | None
    dirty: bool | None
    files: dict[str, str]
    client: str
    address: str
    ipv4: str | None
    boot: str
    python: str
    parts: tuple[Part, ...]


@dataclasses.dataclass(frozen=True)
class Clock:
    """How far the clock there is ahead of this one, plus or minus ``within_s``."""

    ahead_s: float
    within_s: float
