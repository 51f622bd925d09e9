"""Read the hosts of a run from options or a hosts file.

The hosts are the servers, and the clients that generate a part of the load (``clients.py``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from loadtests.errors import UserError
from loadtests.records import decode
from loadtests.records.run.run_record import ExpectedWorkers, RunRecord

SUFFIX = ".toml"
SCHEME = "ssh://"
SERVERS = "servers"


class HostsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A hosts file.

    For example::

        servers = "ssh://bench@10.0.0.2"
        clients = ["ssh://bench@10.0.0.3"]
    """

    servers: Annotated[str | None, Meta(description="The host of the servers: ssh://user@host.")] = None
    clients: Annotated[list[str], Meta(description="The hosts that generate a part of the load.")] = []


@dataclasses.dataclass(frozen=True)
class HostOptions:
    """The hosts of a run, in the format of the command-line options. None means that an option isn't set.

    Args:
        servers: The host of the servers, such as ``ssh://a``.
        clients: The hosts that generate a part of the load, such as ``ssh://b,ssh://c``.
        workers: The number of workers that users start, and where the workers connect.
    """

    servers: str | None = None
    clients: str | None = None
    workers: ExpectedWorkers | None = None

    @classmethod
    def of(
        cls, servers: str | None, clients: str | None, file: Path | None, workers: ExpectedWorkers | None = None
    ) -> HostOptions:
        """Combine the command-line options, or read all hosts from a hosts file instead.

        Raises:
            UserError: If the options contradict each other, or the file isn't valid.
        """
        options = cls(servers, clients)
        if file is not None:
            if options != cls():
                raise UserError(f"{file} contains all hosts. Leave out --servers and --clients")
            options = cls.read(file)
        if workers and options.clients:
            raise UserError("--expect-workers: the workers generate the whole load. Leave out the clients")
        return dataclasses.replace(options, workers=workers)

    @classmethod
    def read(cls, file: Path) -> HostOptions:
        """Read a hosts file.

        Raises:
            UserError: If the file isn't valid.
        """
        table = decode.convert(decode.read_toml(file), HostsTable, str(file))
        return cls(table.servers, _joined(table.clients))

    @classmethod
    def of_record(cls, record: RunRecord) -> HostOptions:
        """Return the hosts of an existing run."""
        return cls(
            record.servers.address if record.servers else None,
            _joined(one.address for one in record.clients if record.workers is None),
            workers=record.workers,
        )

    @property
    def machines(self) -> list[tuple[str, str]]:
        """The role (``servers`` or ``clients``) and the address of each machine except this machine."""
        found = [(SERVERS, self.servers)] if self.servers else []
        return found + [("clients", one) for one in (self.clients or "").split(",") if one]


def machines(where: str) -> list[tuple[str, str]]:
    """Return the roles and addresses of all machines in a hosts file, or of a single server machine.

    Args:
        where: The path of the hosts file, or the address of the machine.

    Raises:
        UserError: If the file isn't valid or contains no machine.
    """
    if not (where.endswith(SUFFIX) or Path(where).is_file()):
        return [(SERVERS, where)]
    if not (found := HostOptions.read(Path(where)).machines):
        raise UserError(f'{where} contains no machines. Add servers = "ssh://user@host"')
    return found


def _joined(texts: Iterable[str]) -> str | None:
    return ",".join(texts) or None
