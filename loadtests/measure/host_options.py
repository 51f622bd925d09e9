"""On which machines a run is: as options name them, or a file that is written once."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from loadtests.errors import UserError
from loadtests.records import decode
from loadtests.records.run.run_record import RunRecord

SUFFIX = ".toml"
SERVERS = "servers"


class HostsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A hosts file, such as::

    servers = "ssh://bench@10.0.0.2"
    clients = ["ssh://bench@10.0.0.3"]
    services = { redis = "ssh://bench@10.0.0.4" }
    """

    servers: Annotated[str | None, Meta(description="The host of the servers: ssh://user@host.")] = None
    clients: Annotated[list[str], Meta(description="Hosts that make a part of the load.")] = []
    services: Annotated[dict[str, str], Meta(description="Hosts of services, by the service's name.")] = {}


@dataclasses.dataclass(frozen=True)
class Places:
    """Where the ``servers`` are, who makes a part of the load (``clients``), and where ``services`` are that have a
    machine of their own: each as its option says it, and None where it is this machine, or beside the servers; whether
    it is a file that says so."""

    servers: str | None = None
    clients: str | None = None
    services: str | None = None
    of_file: bool = False

    @classmethod
    def of(cls, servers: str | None, clients: str | None, services: str | None, file: Path | None) -> Places:
        """As the options say, or the file in place of all of them. Raises UserError."""
        said = cls(servers, clients, services)
        if file is None:
            return said
        if said != cls():
            raise UserError(f"{file} says where everything is; leave out --servers, --clients and --services")
        return cls.read(file)

    @classmethod
    def read(cls, file: Path) -> Places:
        """From a hosts file. Raises UserError."""
        table = decode.convert(decode.read_toml(file), HostsTable, str(file))
        placed = ",".join(f"{name}={on}" for name, on in table.services.items())
        return cls(table.servers, ",".join(table.clients) or None, placed or None, of_file=True)

    @classmethod
    def of_record(cls, record: RunRecord) -> Places:
        """Those of a run that was begun."""
        return cls(
            record.servers.address if record.servers else None,
            ",".join(one.address for one in record.clients) or None,
            ",".join(f"{one.service}={one.address}" for one in record.service_hosts) or None,
        )

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """All other machines: what each is for (``servers``, ``clients`` or ``services``), and its address."""
        clients = self.clients.split(",") if self.clients else []
        services = [one.partition("=")[2] for one in self.services.split(",")] if self.services else []
        by_role = {SERVERS: [self.servers] if self.servers else [], "clients": clients, "services": services}
        return tuple((role, one) for role, those in by_role.items() for one in those)


def named(where: str) -> tuple[tuple[str, str], ...]:
    """The machine for servers that is named, or all those of a file that is, as ``Places.named``. Raises UserError."""
    if not (where.endswith(SUFFIX) or Path(where).is_file()):
        return ((SERVERS, where),)
    found = Places.read(Path(where)).named
    if not found:
        raise UserError(f'{where} names no machine; write servers = "ssh://user@host"')
    return found
