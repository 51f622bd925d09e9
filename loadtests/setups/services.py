"""The services: what runs beside a setup because a setup or a test asks for it; a file each in supervisor/services."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path

from loadtests import files
from loadtests.setups.needs import NEEDS
from loadtests.setups.sections import SupervisorSection

# By this variable a service on another machine than the servers is told the password that it is to want.
PASSWORD = "PASSWORD_OF_SERVICE"


@dataclasses.dataclass(frozen=True)
class Service:
    """What runs beside a setup. ``name`` is its supervisor group's; ``ready`` is a file in RUN_DIR that is there once
    it can be used, empty where the servers themselves wait for it; ``elsewhere`` is the variable, and its value, by
    which servers find one on another machine, empty where it cannot be on one; the other fields are as those of a
    setup."""

    name: str
    label: str
    needs: tuple[str, ...]
    docs: str
    file: Path
    ready: str = ""
    elsewhere: str = ""

    @property
    def variable(self) -> str:
        """The variable by which servers find one on another machine."""
        return self.elsewhere.partition("=")[0]

    def variable_for(self, address: str, port: int, password: str) -> tuple[str, str]:
        """That variable and its value, for one that is there."""
        return self.variable, self.elsewhere.partition("=")[2].format(address=address, port=port, password=password)


# What the questionnaire's sessions are in, by SESSIONS; what is not here needs nothing beside the server.
_OF_SESSIONS = {"redis": ("redis",), "cached_db": ("redis",), "datastore": ("datastore",)}


def required_by(env: Mapping[str, str]) -> tuple[str, ...]:
    """The services that the knobs in ``env``, or else in this process's environment, ask for: that which SESSIONS
    puts the sessions in. The setup pays for them: a store within the server is paid for, too."""
    return _OF_SESSIONS.get(env.get("SESSIONS") or os.environ.get("SESSIONS", ""), ())


def known(folder: Path | None = None) -> dict[str, Service]:
    """All services by name, of supervisor/ or of another folder like it. Raises UserError for a file that does not
    describe one."""
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
    )
