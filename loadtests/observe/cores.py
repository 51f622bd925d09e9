"""Which CPU cores the servers and the load generator run on."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator

from loadtests.errors import UserError, shown


@dataclasses.dataclass(frozen=True)
class Cores:
    """The cores of the servers and of the generator; the same single core for both where there is but one. They may be
    those of two ``machines``."""

    servers: tuple[int, ...]
    generator: tuple[int, ...]
    machines: int = 1

    @property
    def shared(self) -> bool:
        """Whether the generator takes time from the servers."""
        return self.machines == 1 and bool(set(self.servers) & set(self.generator))

    @property
    def servers_list(self) -> str:
        """The servers' cores as taskset takes them: ``0,1,2``."""
        return ",".join(map(str, self.servers))

    def to_dict(self) -> dict[str, tuple[int, ...]]:
        """As a trial keeps it."""
        return {"servers": self.servers, "generator": self.generator}


def allot(wanted: str | None = None) -> Cores:
    """The last core this process may use for the generator, the others for the servers.

    ``wanted`` are the servers' cores as taskset takes them (``0-2,4``); the generator then gets the last of the rest.
    Raises UserError for cores that this process may not use.
    """
    allowed = sorted(os.sched_getaffinity(0))
    if wanted:
        servers = _parse(wanted, allowed)
        rest = [core for core in allowed if core not in servers]
        return Cores(servers, (rest[-1],) if rest else (allowed[-1],))
    if len(allowed) == 1:
        return Cores((allowed[0],), (allowed[0],))
    return Cores(tuple(allowed[:-1]), (allowed[-1],))


def all_of(wanted: str | None = None) -> tuple[int, ...]:
    """The cores of servers that have this machine for themselves: those that are ``wanted`` (as ``allot`` takes them),
    or all that this process may use. Raises UserError."""
    allowed = sorted(os.sched_getaffinity(0))
    return _parse(wanted, allowed) if wanted else tuple(allowed)


def _parse(text: str, allowed: list[int]) -> tuple[int, ...]:
    cores: set[int] = set()
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            # No further than one core too many: that is known, then, without a list of all of them.
            cores.update(range(int(first), min(int(last or first), allowed[-1] + 1) + 1))
    except ValueError:
        raise UserError(f"CORES={shown(text)}: a list of cores is needed, such as 0, 0-2 or 0,2") from None
    if not cores or not cores <= set(allowed):
        raise UserError(f"CORES={shown(text)}: this process may use the cores {','.join(map(str, allowed))}")
    return tuple(sorted(cores))


@contextlib.contextmanager
def pinned(core: int | None) -> Iterator[None]:
    """Children started within it are pinned to the core. Raises UserError where there is no such core."""
    if core is None or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {core})
    except (OSError, ValueError):
        raise UserError(f"the load generator cannot be pinned to core {core}: no such core is at hand") from None
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
