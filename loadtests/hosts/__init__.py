"""Where things run. To add a way to reach a machine: a file beside ``local.py``, named after its scheme (``ssh`` for
``ssh://user@machine``), with a class as ``base.Host`` has it and a function ``at`` that takes an address to one."""

from __future__ import annotations

import importlib
import pkgutil

from loadtests.errors import unknown
from loadtests.hosts.base import ConnectionLost, Host, Program, Supervised

__all__ = ["ConnectionLost", "Host", "Program", "Supervised", "at"]

NO_SCHEME = (
    "base",
    "bring",
    "link",
    "network",
    "supervised",
    "supervisor",
    "wire",
    "with_services",
)  # what stands beside them


def at(where: str) -> Host:
    """The host that ``where`` names: ``local``, or a scheme and an address. Raises UserError."""
    scheme, _, address = where.partition("://")
    schemes = [found.name for found in pkgutil.iter_modules(__path__) if found.name not in NO_SCHEME]
    if scheme not in schemes:
        raise unknown("kind of host", scheme, schemes)
    host: Host = importlib.import_module(f"{__name__}.{scheme}").at(address)
    return host
