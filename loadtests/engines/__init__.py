"""The programs that make the load, behind one interface and with one shape of result.

To add one: a file beside ``openloop.py`` with a class as ``base.Engine`` has it, and a line in ENGINES.
"""

from __future__ import annotations

from loadtests.engines.base import Engine, EngineError
from loadtests.engines.loadtest import Loadtest
from loadtests.engines.openloop import Openloop
from loadtests.errors import unknown
from loadtests.store.result import Result
from loadtests.workload.load import Load

__all__ = ["ENGINES", "Engine", "EngineError", "Load", "Result", "get"]

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (Openloop(), Loadtest())}


def get(name: str) -> Engine:
    """The engine of that name. Raises UserError with the nearest names."""
    try:
        return ENGINES[name]
    except KeyError:
        raise unknown("engine", name, ENGINES) from None
