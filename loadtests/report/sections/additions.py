"""What the section of a kind of test may have besides the figures of its tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from loadtests.analyse.results import Results
from loadtests.plan.kinds import Test
from loadtests.report.charts.shared import Chart
from loadtests.report.tables import MEAN, Columns
from loadtests.report.view import Table


def _none(results: Results, test: Test) -> tuple[()]:
    return ()


@dataclass(frozen=True)
class Additions:
    """``columns`` stand after the metrics in the table of figures, in the place of how many requests failed and how
    many trials there are; ``note`` stands under it. ``tables`` and ``charts`` are a test's further ones."""

    columns: Columns | None = None
    note: str = MEAN
    tables: Callable[[Results, Test], Iterable[Table]] = _none
    charts: Callable[[Results, Test], Iterable[Chart]] = _none


NOTHING = Additions()
