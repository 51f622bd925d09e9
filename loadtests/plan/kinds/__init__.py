"""The kinds of test. To add one: a file next to ``requests.py`` with its row in ``KINDS``; being there, it is found."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from loadtests.errors import unknown
from loadtests.plan import cost_unit
from loadtests.plan.cost_unit import SHARED
from loadtests.plan.kinds.base import Test
from loadtests.plan.kinds.kind import Kind
from loadtests.plan.metrics import TIMES, Metric

__all__ = ["Kind", "Test", "every_metric", "from_record", "known", "metric"]


def known() -> dict[str, Kind]:
    """All kinds by name, in their order in a report."""
    return _found(tuple(__path__))


@functools.cache
def _found(folders: tuple[str, ...]) -> dict[str, Kind]:
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(folders)]
    kinds: list[Kind] = [kind for module in modules for kind in getattr(module, "KINDS", ())]
    return {kind.name: kind for kind in sorted(kinds, key=lambda kind: (kind.order, kind.name))}


def from_record(values: Mapping[str, Any]) -> Test:
    """The test that ``Test.record`` gave. Raises UserError for an unknown kind, ValueError for other fields."""
    if values["kind"] not in known():
        raise unknown("kind of test", str(values["kind"]), known())
    return Test.from_record(known()[values["kind"]], values)


def every_metric() -> tuple[Metric, ...]:
    """All metrics but those of roles, in the order of summary.csv: times, what kinds have of their own, cost."""
    return tuple(_by_name(tuple(known().values())).values())


@functools.cache
def _by_name(kinds: tuple[Kind, ...]) -> dict[str, Metric]:
    own = (metric for kind in kinds for metric in kind.metrics)
    return {metric.name: metric for metric in (*TIMES, *own, *SHARED)}


def metric(name: str) -> Metric:
    """The metric of that name. Raises ValueError for an unknown one: a guessed direction would turn a verdict."""
    metrics = _by_name(tuple(known().values()))
    if name in metrics:
        return metrics[name]
    for one in cost_unit.EVERY:
        if (found := one.role_of(name)) is not None:
            return found
    raise ValueError(f"unknown metric {name!r}; known are {', '.join(metrics)}")
