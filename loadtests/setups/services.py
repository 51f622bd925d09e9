"""Read the services from supervisor/services. A service runs with a setup if the setup or a test requires it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from loadtests import files
from loadtests.errors import UserError
from loadtests.setups import redis
from loadtests.setups.needs import NEEDS
from loadtests.setups.sections import SupervisorSection


@dataclasses.dataclass(frozen=True)
class Service:
    """A supporting service. The other fields have the same meaning as in ``Setup``.

    Args:
        ready: A file that appears in RUN_DIR when the service can be used, or empty if the servers themselves wait for
            the service.
        here: ``VARIABLE=value`` for the servers, with the address of the service. A value in the environment isn't
            replaced.
        as_one: Whether the service starts and ends processes during the load, which together count as one process.
    """

    name: str
    label: str
    needs: tuple[str, ...]
    docs: str
    file: Path
    ready: str = ""
    here: str = ""
    as_one: bool = False


PGBOUNCER, PGBOUNCER_KNOB = "pgbouncer", "PGBOUNCER"
# The services that session stores need, by the value of SESSIONS.
_OF_SESSIONS = {"redis": ("redis",), "cached_db": ("redis",), "datastore": ("datastore",)}


def required_by(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the services (session stores and PgBouncer) that knobs in ``env`` or this process's environment need.

    Their cost is a part of the setup's cost, like the cost of a session store or a pool within the server.
    """
    sessions = _OF_SESSIONS.get(env.get("SESSIONS") or os.environ.get("SESSIONS", ""), ())
    return (*sessions, PGBOUNCER) if env.get(PGBOUNCER_KNOB) or os.environ.get(PGBOUNCER_KNOB) else sessions


def require_redis(names: Iterable[str]) -> None:
    """Check that the Redis in REDIS_URL is reachable, if the services include Redis.

    Raises:
        UserError: If Redis isn't reachable.
    """
    url = os.environ.get("REDIS_URL")
    if url and "redis" in names and (why := redis.refusal(url)):
        raise UserError(f"REDIS_URL: Redis can't be reached: {why}. Start it, or unset REDIS_URL to use a new Redis")


def found_here(names: Iterable[str]) -> dict[str, str]:
    """Return the environment variables that contain the addresses of services on the servers' machine.

    Variables that are already set are left out. If two services use the same variable, the first service wins.
    """
    services = known()
    named = (services[name].here.partition("=") for name in reversed(tuple(names)) if services[name].here)
    return {variable: value for variable, _, value in named if not os.environ.get(variable)}


def known(folder: Path | None = None) -> dict[str, Service]:
    """Return all services by name, from supervisor/ or a folder like it.

    Raises:
        UserError: If a file doesn't describe a service.
    """
    found = sorted(((folder or files.SUPERVISOR) / "services").glob("*.conf"))
    services = [_read(SupervisorSection(file, "service")) for file in found]
    return {service.name: service for service in services}


def _read(section: SupervisorSection) -> Service:
    return Service(
        name=section.name,
        label=section.text("label"),
        needs=section.words("needs", NEEDS),
        docs=section.text("docs", ""),
        file=section.file,
        ready=section.text("ready", ""),
        here=section.text("here", ""),
        as_one=section.word("as_one", ("yes",)) == "yes",
    )
