"""On which machines a run is: as options name them, or a file that is written once."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from loadtests.errors import UserError
from loadtests.store import RunRecord
from loadtests.toml import TomlTable, read

SUFFIX = ".toml"


@dataclasses.dataclass(frozen=True)
class Places:
    """Where the ``servers`` are, who makes a part of the load (``clients``), and where ``services`` are that have a
    machine of their own: each as its option says it, and None where it is this machine, or beside the servers."""

    servers: str | None = None
    clients: str | None = None
    services: str | None = None

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
        """From a file such as::

            servers = "ssh://bench@10.0.0.2"
            clients = ["ssh://bench@10.0.0.3"]
            services = { redis = "ssh://bench@10.0.0.4" }

        Raises UserError."""
        table = TomlTable(read(file), str(file))
        servers = table.take("servers", str, None)
        clients = table.texts("clients")
        services = table.take("services", dict, {})
        table.nothing_else()
        for name, where in services.items():
            if not isinstance(where, str):
                raise table.error(f"services.{name}", "is no text; the service's machine is needed: ssh://user@host")
        return cls(
            servers, ",".join(clients) or None, ",".join(f"{name}={on}" for name, on in services.items()) or None
        )

    @classmethod
    def of_record(cls, record: RunRecord) -> Places:
        """Those of a run that was begun."""
        return cls(
            record.servers.address if record.servers else None,
            ",".join(one.address for one in record.clients) or None,
            ",".join(f"{one.service}={one.address}" for one in record.service_hosts) or None,
        )

    @property
    def addresses(self) -> tuple[str, ...]:
        """All other machines."""
        clients = self.clients.split(",") if self.clients else []
        services = [one.partition("=")[2] for one in self.services.split(",")] if self.services else []
        return (*([self.servers] if self.servers else []), *clients, *services)


def addresses(where: str) -> tuple[str, ...]:
    """The machine that is named, or all those of a file that is. Raises UserError."""
    if not where.endswith(SUFFIX):
        return (where,)
    found = Places.read(Path(where)).addresses
    if not found:
        raise UserError(f'{where} names no machine; write servers = "ssh://user@host"')
    return found
