"""Where things run. To add a way to reach a machine: a file here, named after its scheme (``ssh`` for
``ssh://user@machine``), with a class as ``base.Host`` has it and a function ``at`` that takes an address to one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from loadtests.errors import unknown
from loadtests.hosts.base import ConnectionLost, Host, Program, Supervised

__all__ = ["ConnectionLost", "Host", "Program", "Supervised", "at"]


def at(where: str) -> Host:
    """The host that ``where`` names: ``local``, or a scheme and an address. Raises UserError."""
    scheme, _, address = where.partition("://")
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    kind = _kind(scheme) if scheme in names else None
    if kind is None:
        raise unknown("kind of host", scheme, [name for name in names if _kind(name) is not None])
    return kind(address)


def _kind(name: str) -> Callable[[str], Host] | None:
    """The function ``at`` of a module here."""
    return getattr(importlib.import_module(f"{__name__}.{name}"), "at", None)
