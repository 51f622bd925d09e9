"""Which CPU cores the servers, their services and the load generator run on."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping

from loadtests.errors import UserError, shown

SERVICES = "SERVICES_CORES"
GENERATOR = "generator"  # of SERVICES_CORES: where the load generator runs
MOST_CORES = 8192  # as many as Linux can have


@dataclasses.dataclass(frozen=True)
class Cores:
    """The cores of the servers and of the generator, which share one where there is no other; on one or two
    ``machines``."""

    servers: tuple[int, ...]
    generator: tuple[int, ...]
    machines: int = 1

    @property
    def shared(self) -> bool:
        """Whether the generator takes time from the servers."""
        return self.machines == 1 and bool(set(self.servers) & set(self.generator))

    def services(self, env: Mapping[str, str]) -> tuple[int, ...]:
        """Those of the services: SERVICES_CORES in ``env``, or else in this process's environment, is a list of cores
        or the generator's; by default they are the servers'. Raises UserError for cores that this process may not use;
        which those are on another machine is not known here."""
        requested = _services_cores(env)
        if not requested:
            return self.servers
        if requested != GENERATOR:
            return _parse(SERVICES, requested, sorted(os.sched_getaffinity(0)) if self.machines == 1 else None)
        if self.machines > 1:
            raise UserError(f"SERVICES_CORES={GENERATOR}: the load generator is on another machine; a list is needed")
        return self.generator

    def knobs(self, env: Mapping[str, str]) -> dict[str, str]:
        """The knobs for a setup under the knobs ``env`` and its services, in lists as taskset takes them: ``0,1,2``.
        Raises UserError as ``services`` does."""
        services = {SERVICES: _listed(self.services(env))} if _services_cores(env) else {}
        return {"CORES": _listed(self.servers), **services}

    def to_dict(self, env: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
        """As a trial keeps it of a setup under the knobs ``env``."""
        services = {"services": self.services(env)} if _services_cores(env) else {}
        return {"servers": self.servers, "generator": self.generator, **services}


def allot(requested: str | None = None) -> Cores:
    """The last core this process may use for the generator, the others for the servers.

    ``requested`` are the servers' cores as taskset takes them (``0-2,4``); the generator then gets the last of the
    rest. Raises UserError for cores that this process may not use.
    """
    allowed = sorted(os.sched_getaffinity(0))
    servers = _parse("CORES", requested, allowed) if requested else tuple(allowed[:-1] or allowed)
    rest = [core for core in allowed if core not in servers]
    return Cores(servers, ((rest or allowed)[-1],))


def all_of(requested: str | None = None) -> tuple[int, ...]:
    """The cores of servers that have this machine for themselves: all that this process may use, or those that are
    ``requested`` as in ``allot``. Raises UserError."""
    allowed = sorted(os.sched_getaffinity(0))
    return _parse("CORES", requested, allowed) if requested else tuple(allowed)


def apart(knobs: Mapping[str, str]) -> bool:
    """Whether the services run on none of the servers' cores, by what ``Cores.knobs`` made."""
    services = knobs.get(SERVICES)
    return services is not None and set(services.split(",")).isdisjoint(knobs["CORES"].split(","))


def _services_cores(env: Mapping[str, str]) -> str:
    return env.get(SERVICES) or os.environ.get(SERVICES, "")


def _listed(cores: tuple[int, ...]) -> str:
    return ",".join(map(str, cores))


def _parse(name: str, text: str, allowed: list[int] | None) -> tuple[int, ...]:
    """The cores of a list; any, where it is not known which are ``allowed``."""
    cores: set[int] = set()
    most = MOST_CORES if allowed is None else allowed[-1] + 1
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            # No further than one core too many: that is known, then, without a list of all of them.
            cores.update(range(int(first), min(int(last or first), most) + 1))
    except ValueError:
        other = f", or {GENERATOR}" if name == SERVICES else ""
        raise UserError(f"{name}={shown(text)}: a list of cores is needed, such as 0, 0-2 or 0,2{other}") from None
    if not cores or (allowed is not None and not cores <= set(allowed)):
        why = "there are no such cores"
        if allowed is not None:
            why = f"this process may use the cores {_listed(tuple(allowed))}"
        raise UserError(f"{name}={shown(text)}: {why}")
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
