"""Create tables of measured figures, and the fields of these tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import TypeVar

from loadtests.analyse.compare.within import Estimate
from loadtests.analyse.results import Cell, Results
from loadtests.formatting import DASH, figure, interval, number, relative
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import Metric
from loadtests.plan.trial_count import TrialCount
from loadtests.records import Trial
from loadtests.report.charts.shared import Chart
from loadtests.report.view import Field, Table
from loadtests.trials import readings

Column = Callable[[Cell], Field]
Columns = Mapping[str, Column]
Item = TypeVar("Item")
MEAN = f"Means over blocks, each with its own 95% interval. {DASH}: not known."


@dataclass(frozen=True)
class Layout:
    """The layout of a table. The other fields are the same as in ``view.Table``.

    Attributes:
        words: The headings of columns that are aligned to the left.
        optional: The headings of columns that a narrow terminal drops, in this order.
    """

    words: Collection[str] = ()
    optional: Sequence[str] = ()
    folded: bool = False
    grouped: int | None = None
    only_on_pages: bool = False


PLAIN = Layout()


def listed(
    name: str,
    caption: str,
    items: Iterable[Item],
    columns: Mapping[str, Callable[[Item], Field | str]],
    note: str = "",
    layout: Layout = PLAIN,
) -> Table:
    """Return a table with a row for each item. ``columns`` maps headings to functions that return an item's field."""
    fields = [[read(item) for read in columns.values()] for item in items]
    heads = tuple(columns)
    return Table(
        name,
        caption,
        heads,
        tuple(tuple(one if isinstance(one, Field) else Field(one) for one in row) for row in fields),
        note,
        numeric=frozenset(place for place, head in enumerate(heads) if place and head not in layout.words),
        optional=tuple(heads.index(head) for head in layout.optional if head in heads),
        folded=layout.folded,
        grouped=layout.grouped,
        only_on_pages=layout.only_on_pages,
    )


def measured(
    results: Results, test: Test, name: str, caption: str, shown: Mapping[Metric, str], more: Additions
) -> Table:
    """Return a table with a row for each setup, starting with the best. ``shown`` maps metrics to headings."""
    first = next(iter(shown))

    def column(metric: Metric) -> Column:
        return lambda cell: (
            Field(why_empty(cell), tone="muted")
            if metric is first and not cell.valid and not cell.unverified
            else estimate(results, cell.label, test, metric)
        )

    columns = {"setup": lambda cell: Field(cell.label), **{heading: column(one) for one, heading in shown.items()}}
    columns |= {"failed": failures, "trials": trials} if more.columns is None else more.columns
    cells = [results.cells[label, test.name] for label in results.by_estimate(test, first)]
    return listed(name, caption, cells, columns, more.note, Layout(optional=more.optional))


def failed(count: int, detail: str = "") -> Field:
    """Return a field with the number of failures, in red unless the number is 0."""
    return Field(f"{count:,}", detail, tone="bad" if count else "")


def counts(counted: Iterable[TrialCount]) -> dict[str, Column]:
    """Return a table column for each count, by heading."""
    return {one.name: partial(count, counted=one) for one in counted}


def count(cell: Cell, counted: TrialCount) -> Field:
    """Return a field with a count over the valid trials of a setup in a test."""
    value = counted.over(cell.valid)
    return unknown() if value is None else Field(in_words(value), tone="bad" if value and counted.bad else "")


def in_words(value: float) -> str:
    """Format a count, such as 12,345, or a median such as 2.5."""
    whole = value >= 10 or value == int(value)
    return number(value) if math.isinf(value) else f"{value:,.0f}" if whole else f"{value:.1f}"


def counted_in(
    results: Results,
    test: Test,
    name: str,
    caption: str,
    counted: Sequence[TrialCount],
    note: str = "Sums over valid trials.",
    layout: Layout = PLAIN,
) -> Iterator[Table]:
    """Yield a table of the counts that are known in a test, or nothing if no count is known."""
    cells = [results.cells[label, test.name] for label in results.labels_in(test.name)]
    known = [one for one in counted if any(one.over(cell.valid) is not None for cell in cells)]
    shown = [cell for cell in cells if any(one.over(cell.valid) is not None for one in known)]
    if known:
        columns: Columns = {"setup": lambda cell: Field(cell.label), **counts(known)}
        yield listed(f"{name}-{test.name}", f"{caption}: {test.description}", shown, columns, note, layout)


def sums(of: Callable[[Trial], object | None], fields: Mapping[str, str], bad: bool = False) -> tuple[TrialCount, ...]:
    """Return counts that are sums over trials.

    Args:
        of: A function that returns an object with a trial's counts, or None.
        fields: The attributes of this object, by the heading of their column.
        bad: Whether any count above 0 is a fault.
    """
    return tuple(replace(one, summed=True, bad=bad) for one in medians(of, fields))


def medians(of: Callable[[Trial], object | None], fields: Mapping[str, str]) -> tuple[TrialCount, ...]:
    """Return counts that are medians over trials. See ``sums`` for the arguments."""

    def reading(name: str) -> Callable[[Trial], float | None]:
        return lambda trial: getattr(found, name) if (found := of(trial)) else None

    return tuple(TrialCount(head, head, reading(name)) for head, name in fields.items())


def unknown(why: str = "") -> Field:
    return Field(DASH, why, DASH, tone="muted")


def why_empty(cell: Cell) -> str:
    if not cell.invalid:
        return "not measured"
    reasons = [flag.reason.replace("_", " ") for flag in cell.invalid[-1].flags if flag.invalid]
    return f"invalid: {reasons[0]}" if reasons else "invalid"


def estimate(results: Results, label: str, test: Test, metric: Metric) -> Field:
    known = results.estimate(label, test.name, metric.name)
    if known is None:
        if found := results.unverified(label, test.name, metric.name):
            return unverified(found)
        valid = results.cells[label, test.name].valid
        return unknown(next((why for trial in valid if (why := readings.delay_note(trial, metric))), ""))
    text = figure(known)
    return Field(text, interval(known), f"{text} {relative(known)}".strip())


def unverified(found: Estimate) -> Field:
    """Return a field, grey and in brackets, with a figure from trials that contention or the generator disturbed."""
    text = f"({figure(found)})" if math.isfinite(found.value) else DASH
    return Field(text, "unverified", text, tone="unverified")


def failures(cell: Cell) -> Field:
    """Return a field with the number of failed requests in valid trials, and the kinds of failures."""
    if not cell.valid:
        return unknown()
    measured = [trial.result for trial in cell.valid if trial.result]
    sent = sum(result.sent for result in measured)
    kinds = sum((Counter(result.failed) for result in measured), Counter[str]())
    if not (count := kinds.total()):
        return Field("0")
    share = f"{count / sent:.2%}" if sent else ""
    parts = [share, *(f"{kind} {many:,}" for kind, many in sorted(kinds.items()))]
    short = f"{count:,} ({share})" if share else f"{count:,}"
    return Field(f"{count:,}", ", ".join(filter(None, parts)), short, tone="bad")


def trials(cell: Cell) -> Field:
    """Return a field with the number of valid trials, and the number of invalid trials as a detail."""
    count = str(len(cell.valid))
    invalid = f"{len(cell.invalid)} invalid" if cell.invalid else ""
    return Field(count, invalid, f"{count} ({invalid})" if invalid else count)


def median_of(values: Sequence[float | None]) -> Field:
    """Return a field with the median of a figure over trials. The field is a dash if any trial lacks the figure."""
    known = [value for value in values if value is not None]
    return Field(number(median(known))) if len(known) == len(values) else unknown()


def pairs(rows: list[tuple[str, str]]) -> tuple[tuple[Field, ...], ...]:
    return tuple((Field(key), Field(value)) for key, value in rows)


def _none(results: Results, test: Test) -> tuple[()]:
    return ()


@dataclass(frozen=True)
class Additions:
    """The content that a kind of test adds to its section of the report.

    Attributes:
        columns: The columns after the metrics in the table of figures. The default columns are the failed requests and
            the trials.
        optional: The headings of the columns that a narrow terminal drops first.
        note: The text below the table.
        tables: A function that returns more tables about a test.
        charts: A function that returns charts of a test.
    """

    columns: Columns | None = None
    optional: Sequence[str] = ()
    note: str = MEAN
    tables: Callable[[Results, Test], Iterable[Table]] = _none
    charts: Callable[[Results, Test], Iterable[Chart]] = _none


NOTHING = Additions()
