"""Find the hosts, which are the machines that run servers and services.

To add a way to reach a machine, create a module with the name of the scheme (``ssh`` for ``ssh://user@machine``). The
module needs a class like ``base.Host``, and a function ``at`` that creates a host from an address.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from loadtests import setups
from loadtests.errors import unknown
from loadtests.hosts.base import ConnectionLost, Host, Program, Supervised

__all__ = ["ConnectionLost", "Host", "Program", "Supervised", "at", "require_port"]


def at(where: str) -> Host:
    """Return the host with this name: ``local``, or a scheme and an address.

    Raises:
        UserError: If the scheme is unknown or the address isn't valid.
    """
    scheme, _, address = where.partition("://")
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    kind = _kind(scheme) if scheme in names else None
    if kind is None:
        raise unknown("kind of host", scheme, [name for name in names if _kind(name) is not None])
    return kind(address)


def require_port() -> None:
    """Check that the setups' port on this machine is free.

    Raises:
        UserError: If the port is taken. The message names the process.
    """
    at("local").require_free(setups.bind(), setups.port())


def _kind(name: str) -> Callable[[str], Host] | None:
    """Return the function ``at`` of a module in this package, or None if the module has no such function."""
    return getattr(importlib.import_module(f"{__name__}.{name}"), "at", None)
