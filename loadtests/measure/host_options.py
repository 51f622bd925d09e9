"""On which hosts a run is: as options name them, or a hosts file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from loadtests.errors import UserError
from loadtests.records import decode
from loadtests.records.run.run_record import RunRecord

SUFFIX = ".toml"
SCHEME = "ssh://"
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
class HostOptions:
    """Where the ``servers`` are, which ``clients`` make a part of the load, and which ``services`` have their own
    machines: each as its option is written, None where it is not. ``of_file``: a hosts file says so."""

    servers: str | None = None
    clients: str | None = None
    services: str | None = None
    of_file: bool = False

    @classmethod
    def of(cls, servers: str | None, clients: str | None, services: str | None, file: Path | None) -> HostOptions:
        """From the options, or from the file instead. Raises UserError."""
        options = cls(servers, clients, services)
        if file is None:
            return options
        if options != cls():
            raise UserError(f"{file} says where everything is; leave out --servers, --clients and --services")
        return cls.read(file)

    @classmethod
    def read(cls, file: Path) -> HostOptions:
        """From a hosts file. Raises UserError."""
        table = decode.convert(decode.read_toml(file), HostsTable, str(file))
        services = _joined(f"{name}={on}" for name, on in table.services.items())
        return cls(table.servers, _joined(table.clients), services, of_file=True)

    @classmethod
    def of_record(cls, record: RunRecord) -> HostOptions:
        """Those of a run that was begun."""
        return cls(
            record.servers.address if record.servers else None,
            _joined(one.address for one in record.clients),
            _joined(f"{one.service}={one.address}" for one in record.service_hosts),
        )

    @property
    def machines(self) -> list[tuple[str, str]]:
        """The role of each other machine (``servers``, ``clients`` or ``services``), and its address."""
        found = [(SERVERS, self.servers)] if self.servers else []
        found += [("clients", one) for one in _split(self.clients)]
        return found + [("services", one.partition("=")[2]) for one in _split(self.services)]


def machines(where: str) -> list[tuple[str, str]]:
    """The machine for servers at that address, or all those of a hosts file, as ``HostOptions.machines``. Raises
    UserError."""
    if not (where.endswith(SUFFIX) or Path(where).is_file()):
        return [(SERVERS, where)]
    if not (found := HostOptions.read(Path(where)).machines):
        raise UserError(f'{where} names no machine; write servers = "ssh://user@host"')
    return found


def _joined(texts: Iterable[str]) -> str | None:
    return ",".join(texts) or None


def _split(text: str | None) -> list[str]:
    return text.split(",") if text else []
