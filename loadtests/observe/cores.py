"""Select the CPU cores of the servers, their services and the load generator."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping

from loadtests.errors import UserError, shown

SERVICES = "SERVICES_CORES"
GENERATOR = "generator"  # The value of SERVICES_CORES that means the load generator's core.
MAX_CORES = 8192  # Linux doesn't support more cores.


@dataclasses.dataclass(frozen=True)
class Cores:
    """The cores of the servers and of the load generator, on one or two ``machines``.

    If there is only one core, the servers and the generator share this core.
    """

    servers: tuple[int, ...]
    generator: tuple[int, ...]
    machines: int = 1

    @property
    def shared(self) -> bool:
        """Whether the load generator uses any of the servers' cores."""
        return self.machines == 1 and bool(set(self.servers) & set(self.generator))

    def services(self, env: Mapping[str, str]) -> tuple[int, ...]:
        """Return the services' cores: SERVICES_CORES in ``env`` or in the environment, or else the servers' cores.

        If the servers run on another machine, any core is accepted, because the allowed cores aren't known.

        Raises:
            UserError: If this process may not use the cores.
        """
        requested = _services_cores(env)
        if not requested:
            return self.servers
        if requested != GENERATOR:
            return _parse(SERVICES, requested, sorted(os.sched_getaffinity(0)) if self.machines == 1 else None)
        if self.machines > 1:
            raise UserError(
                f"SERVICES_CORES={GENERATOR}: the load generator is on another machine. Write a list of cores"
            )
        return self.generator

    def knobs(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the knobs with the cores of a setup and its services, as lists for taskset such as ``0,1,2``.

        Raises:
            UserError: If this process may not use the services' cores.
        """
        services = {SERVICES: _listed(self.services(env))} if _services_cores(env) else {}
        return {"CORES": _listed(self.servers), **services}

    def to_dict(self, env: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
        """Return the cores for the record of a trial with the knobs ``env``."""
        services = {"services": self.services(env)} if _services_cores(env) else {}
        return {"servers": self.servers, "generator": self.generator, **services}


def allot(requested: str | None = None) -> Cores:
    """Select the last allowed core for the load generator, and the other allowed cores for the servers.

    Args:
        requested: The servers' cores in taskset's format (``0-2,4``). The generator uses the last remaining core.

    Raises:
        UserError: If this process may not use the cores.
    """
    allowed = sorted(os.sched_getaffinity(0))
    servers = _parse("CORES", requested, allowed) if requested else tuple(allowed[:-1] or allowed)
    rest = [core for core in allowed if core not in servers]
    return Cores(servers, ((rest or allowed)[-1],))


def all_of(requested: str | None = None) -> tuple[int, ...]:
    """Return the servers' cores on a machine without a load generator: the ``requested`` or all allowed cores.

    Raises:
        UserError: If this process may not use the cores.
    """
    allowed = sorted(os.sched_getaffinity(0))
    return _parse("CORES", requested, allowed) if requested else tuple(allowed)


def apart(knobs: Mapping[str, str]) -> bool:
    """Return whether the services use none of the servers' cores. ``knobs`` is the result of ``Cores.knobs``."""
    services = knobs.get(SERVICES)
    return services is not None and set(services.split(",")).isdisjoint(knobs["CORES"].split(","))


def _services_cores(env: Mapping[str, str]) -> str:
    return env.get(SERVICES) or os.environ.get(SERVICES, "")


def _listed(cores: tuple[int, ...]) -> str:
    return ",".join(map(str, cores))


def _parse(name: str, text: str, allowed: list[int] | None) -> tuple[int, ...]:
    """Parse a list of cores. If ``allowed`` is None, accept any core."""
    cores: set[int] = set()
    most = MAX_CORES if allowed is None else allowed[-1] + 1
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            # Shorten huge ranges. One core above the maximum is enough to detect the error.
            cores.update(range(int(first), min(int(last or first), most) + 1))
    except ValueError:
        other = f", or {GENERATOR}" if name == SERVICES else ""
        raise UserError(f"{name}={shown(text)}: must be a list of cores, such as 0, 0-2 or 0,2{other}") from None
    if not cores or (allowed is not None and not cores <= set(allowed)):
        why = "these cores don't exist"
        if allowed is not None:
            why = f"the allowed cores are {_listed(tuple(allowed))}"
        raise UserError(f"{name}={shown(text)}: {why}")
    return tuple(sorted(cores))


@contextlib.contextmanager
def pinned(core: int | None) -> Iterator[None]:
    """Pin this process, and the child processes that it starts in this context, to a core.

    Raises:
        UserError: If the core doesn't exist or isn't allowed.
    """
    if core is None or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {core})
    except (OSError, ValueError):
        raise UserError(
            f"the load generator cannot be pinned to core {core}: the core doesn't exist or isn't allowed"
        ) from None
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
