"""Find the hosts, which are the machines that run servers and services."""

from __future__ import annotations

from loadtests import setups
from loadtests.errors import UserError, unknown
from loadtests.hosts.base import ConnectionLost, Program, Supervised
from loadtests.hosts.local import Host

__all__ = ["ConnectionLost", "Host", "Program", "Supervised", "at", "require_port"]


def at(where: str) -> Host:
    """Return the host with this name: ``local``, or ``ssh://`` and an address.

    Raises:
        UserError: If the scheme is unknown or the address isn't valid.
    """
    from loadtests.hosts.link import Address
    from loadtests.hosts.ssh import Ssh

    scheme, separator, address = where.partition("://")
    if scheme == "ssh":
        return Ssh(Address.parse(address))
    if scheme != "local":
        raise unknown("kind of host", scheme, ["local", "ssh"])
    if separator:
        raise UserError(f"{where}: the local machine has no address. Write only local")
    return Host()


def require_port() -> None:
    """Check that the setups' port on this machine is free.

    Raises:
        UserError: If the port is taken. The message names the process.
    """
    at("local").require_free(setups.bind(), setups.port())
