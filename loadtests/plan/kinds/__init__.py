"""Find the kinds of tests.

To add a kind, create a file next to ``requests.py`` with a subclass of ``Test`` that has a ``tag``. The harness finds
all files in this folder.
"""

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
from loadtests.plan.metrics import TIMES, Metric

__all__ = ["Test", "every_metric", "from_record", "known", "metric"]


def known() -> dict[str, type[Test]]:
    """Return all kinds by name, in the order of a report."""
    return _found(tuple(__path__))


@functools.cache
def _found(folders: tuple[str, ...]) -> dict[str, type[Test]]:
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(folders)]
    classes = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
    kinds = [one for one in classes if issubclass(one, Test) and "tag" in vars(one)]
    return {kind.tag: kind for kind in sorted(kinds, key=lambda kind: (kind.order, kind.tag))}


def from_record(values: Mapping[str, Any]) -> Test:
    """Create a test from the values of ``Test.record``.

    Raises:
        UserError: If the kind is unknown.
        ValueError: If a field isn't valid.
    """
    if values["kind"] not in known():
        raise unknown("kind of test", str(values["kind"]), known())
    return known()[values["kind"]].from_record(values)


def every_metric() -> tuple[Metric, ...]:
    """Return all metrics except the metrics of roles, in the order of summary.csv: times, kinds, then cost."""
    return tuple(_by_name(tuple(known().values())).values())


@functools.cache
def _by_name(kinds: tuple[type[Test], ...]) -> dict[str, Metric]:
    own = (metric for kind in kinds for metric in kind.metrics)
    return {metric.name: metric for metric in (*TIMES, *own, *SHARED)}


def metric(name: str) -> Metric:
    """Return the metric with this name.

    Raises:
        ValueError: If the name is unknown, because a wrong guess of the metric's direction would reverse a verdict.
    """
    metrics = _by_name(tuple(known().values()))
    if name in metrics:
        return metrics[name]
    for one in cost_unit.EVERY:
        if (found := one.role_of(name)) is not None:
            return found
    raise ValueError(f"unknown metric {name!r}. Known metrics: {', '.join(metrics)}")
