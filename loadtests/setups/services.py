"""Reads the services from supervisor/services: what runs with a setup because a setup or a test asks for it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from loadtests import files
from loadtests.errors import UserError
from loadtests.setups import redis
from loadtests.setups.needs import NEEDS
from loadtests.setups.sections import SupervisorSection

DEFAULT_PORTS = {"redis": 6379, "rediss": 6379, "postgresql": 5432, "postgres": 5432}  # by a URL's scheme

# The variable with the password that a service on another machine must require.
PASSWORD = "PASSWORD_OF_SERVICE"


@dataclasses.dataclass(frozen=True)
class Service:
    """``ready`` is a file in RUN_DIR that appears once it can be used, empty where the servers wait for it themselves;
    ``elsewhere`` is ``VARIABLE=value`` for the servers when it runs on another machine, empty where it cannot, and
    ``here`` when it runs on theirs and the environment does not name another; ``as_one``: its processes come and go,
    and are counted as one. The other fields are those of a setup."""

    name: str
    label: str
    needs: tuple[str, ...]
    docs: str
    file: Path
    ready: str = ""
    elsewhere: str = ""
    here: str = ""
    as_one: bool = False

    @property
    def variable(self) -> str:
        """The variable with which servers find one that is not next to them."""
        return (self.elsewhere or self.here).partition("=")[0]

    @property
    def of_others(self) -> bool:
        """Whether the environment names one, which somebody else runs."""
        return bool(os.environ.get(self.variable))

    def port_of_others(self) -> int:
        """The port of that one. Raises UserError where what it is named by is no address of a network."""
        try:
            parts = urlsplit(os.environ[self.variable])
            port = parts.port or DEFAULT_PORTS[parts.scheme]
        except (KeyError, ValueError):
            parts, port = urlsplit(""), 0
        if not parts.hostname:
            raise UserError(f"{self.variable} names no {self.label} on another machine")
        return port

    def variable_for(self, address: str, port: int, password: str) -> tuple[str, str]:
        """That variable and its value for this address."""
        return self.variable, self.elsewhere.partition("=")[2].format(address=address, port=port, password=password)


PGBOUNCER, PGBOUNCER_KNOB = "pgbouncer", "PGBOUNCER"
# The services of session stores, by SESSIONS.
_OF_SESSIONS = {"redis": ("redis",), "cached_db": ("redis",), "datastore": ("datastore",)}


def required_by(env: Mapping[str, str]) -> tuple[str, ...]:
    """The services that knobs in ``env``, or in this process's environment, ask for: of the session store, and
    PgBouncer. The setup is charged for them, as for a store or a pool within the server."""
    sessions = _OF_SESSIONS.get(env.get("SESSIONS") or os.environ.get("SESSIONS", ""), ())
    return (*sessions, PGBOUNCER) if env.get(PGBOUNCER_KNOB) or os.environ.get(PGBOUNCER_KNOB) else sessions


def require_redis(names: Iterable[str]) -> None:
    """Raises UserError where Redis is among the services of these ``names``, and the one of REDIS_URL is not there."""
    url = os.environ.get("REDIS_URL")
    if url and "redis" in names and (why := redis.refusal(url)):
        raise UserError(f"REDIS_URL: there is no Redis: {why}; start it, or leave REDIS_URL unset: one is started then")


def found_here(names: Iterable[str]) -> dict[str, str]:
    """The variables with which servers find the services that run next to them, where the environment names no
    other. Of two with the same variable the first is in front."""
    services = known()
    named = (services[name].here.partition("=") for name in reversed(tuple(names)) if services[name].here)
    return {variable: value for variable, _, value in named if not os.environ.get(variable)}


def known(folder: Path | None = None) -> dict[str, Service]:
    """All services by name, of supervisor/ or a folder like it. Raises UserError for a file that does not describe
    one."""
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
        elsewhere=section.text("elsewhere", ""),
        here=section.text("here", ""),
        as_one=section.word("as_one", ("yes",)) == "yes",
    )
