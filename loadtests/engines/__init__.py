"""Find the engines, which are the programs that generate load.

All engines have the same interface and return the same kind of result. To add an engine, create a file in this folder
with a class like ``base.Engine`` and an instance named ``ENGINE``, and add the instance to ``known``.
"""

from __future__ import annotations

from loadtests.engines.base import Engine, EngineError
from loadtests.errors import UserError, unknown
from loadtests.workload import Feature, Load

__all__ = ["Engine", "EngineError", "get", "known", "require_able"]


def known() -> dict[str, Engine]:
    """Return all engines by name, in the order in which they are listed."""
    from loadtests.engines import loadtest, locust, openloop

    return {engine.name: engine for engine in (openloop.ENGINE, loadtest.ENGINE, locust.ENGINE)}


def get(name: str) -> Engine:
    """Return the engine with this name.

    Raises:
        UserError: If no engine has this name. The message suggests similar names.
    """
    try:
        return known()[name]
    except KeyError:
        raise unknown("engine", name, known()) from None


def require_able(engine: Engine, load: Load, needs: frozenset[Feature] = frozenset()) -> None:
    """Check that an engine can generate a load and supports the additional features in ``needs``.

    Raises:
        UserError: If the engine can't generate the load or lacks a feature.
    """
    for feature in sorted((load.features | needs) - engine.features, key=lambda one: one.name):
        able = next(one.name for one in known().values() if feature in one.features)
        raise UserError(f"the engine {engine.name} cannot {feature.value}. Use {able}")
    engine.check(load)
