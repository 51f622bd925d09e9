"""Who can reach a server that listens on an address."""

from __future__ import annotations

import ipaddress
import socket

import psutil


def warning(bind: str, port: int) -> str | None:
    """A sentence for whoever serves on an address that others may reach too; None for one of this machine alone."""
    try:
        address = ipaddress.ip_address(bind)
    except ValueError:  # a name: which addresses it has, the server finds out
        return None
    if address.is_loopback:
        return None
    listening = _addresses(address.version) if address.is_unspecified else [bind]
    where = ", ".join(f"[{one}]:{port}" if ":" in one else f"{one}:{port}" for one in listening)
    return (
        f"warning: BIND={bind} listens on {where}: whoever reaches this machine there can use it, and it is made for "
        "measuring, not for the open. Without BIND only this machine can."
    )


def _addresses(version: int) -> list[str]:
    """The addresses of this machine's interfaces."""
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    found = [
        one.address.partition("%")[0]
        for listed in psutil.net_if_addrs().values()
        for one in listed
        if one.family == family
    ]
    return sorted(set(found))
