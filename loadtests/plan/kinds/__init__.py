"""The kinds of test. To add one: a file beside ``latency.py`` with a subclass of ``Test``; being there, it is found."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from inspect import isabstract
from typing import Any

from loadtests.errors import unknown
from loadtests.plan import cost_unit
from loadtests.plan.cost_unit import SHARED
from loadtests.plan.kinds.base import Test
from loadtests.plan.metrics import TIMES, Metric

__all__ = ["Test", "every_metric", "from_record", "known", "metric"]


def known() -> dict[str, type[Test]]:
    """All kinds by name, in the order of their places."""
    return _found(tuple(__path__))


@functools.cache
def _found(folders: tuple[str, ...]) -> dict[str, type[Test]]:
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(folders)]
    kinds = [
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Test) and one.__module__ == module.__name__ and not isabstract(one)
    ]
    return {one.kind: one for one in sorted(kinds, key=lambda one: (one.order, one.kind))}


def from_record(values: Mapping[str, Any]) -> Test:
    """The test that ``Test.record`` gave. Raises UserError for an unknown kind, TypeError for other fields."""
    if values["kind"] not in known():
        raise unknown("kind of test", str(values["kind"]), known())
    return known()[values["kind"]].from_record({key: value for key, value in values.items() if key != "kind"})


def every_metric() -> tuple[Metric, ...]:
    """All metrics but those of roles, in the order of summary.csv: times, what kinds have of their own, cost."""
    return tuple(_by_name(tuple(known().values())).values())


@functools.cache
def _by_name(kinds: tuple[type[Test], ...]) -> dict[str, Metric]:
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
