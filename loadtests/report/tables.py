"""Tables of measured figures, and their fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from loadtests.analyse import readings
from loadtests.analyse.results import Cell, Results
from loadtests.formatting import DASH, figure, interval, number, relative
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import Metric
from loadtests.report import ranking
from loadtests.report.view import Field, Table

Column = Callable[[Cell], Field]
Columns = Mapping[str, Column]
MEAN = f"Mean over blocks and its 95% interval. {DASH}: not known."


def measured(
    results: Results,
    test: Test,
    name: str,
    caption: str,
    shown: Mapping[Metric, str],
    more: Columns | None = None,
    optional: Sequence[str] = (),
    note: str = MEAN,
) -> Table:
    """A row for each setup, the best first.

    ``shown``: metrics with their headings. ``more``: the columns after them, by default failures and trials.
    ``optional``: the headings that a narrow terminal drops, the first to go first.
    """
    after: Columns = {"failed": failures, "trials": trials} if more is None else more
    rows = []
    for label in ranking.by_estimate(results, test, next(iter(shown))):
        cell = results.cells[label, test.name]
        if cell.valid:
            fields = [estimate(results, label, test, metric) for metric in shown]
        else:
            fields = [Field(why_empty(cell), tone="muted"), *(unknown() for _ in range(len(shown) - 1))]
        rows.append((Field(label), *fields, *(field(cell) for field in after.values())))
    columns = ("setup", *shown.values(), *after)
    return Table(
        name,
        caption,
        columns,
        tuple(rows),
        note,
        numeric=frozenset(range(1, len(columns))),
        optional=tuple(columns.index(heading) for heading in optional if heading in columns),
    )


def unknown(why: str = "") -> Field:
    """An unknown figure."""
    return Field(DASH, why, DASH, tone="muted")


def why_empty(cell: Cell) -> str:
    """Why there is no figure."""
    if not cell.invalid:
        return "not measured"
    reasons = [flag.reason.replace("_", " ") for flag in cell.invalid[-1].flags if flag.invalid]
    return f"invalid: {reasons[0]}" if reasons else "invalid"


def estimate(results: Results, label: str, test: Test, metric: Metric) -> Field:
    """The mean and interval of a metric."""
    known = results.estimate(label, test.name, metric.name)
    if known is None:
        valid = results.cells[label, test.name].valid
        return unknown(next((why for trial in valid if (why := readings.delay_note(trial, metric))), ""))
    text = figure(known)
    return Field(text, interval(known), f"{text} {relative(known)}".strip())


def failures(cell: Cell) -> Field:
    """How many requests of the valid trials failed, and how."""
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
    """The number of valid trials, and of invalid ones."""
    count = str(len(cell.valid))
    invalid = f"{len(cell.invalid)} invalid" if cell.invalid else ""
    return Field(count, invalid, f"{count} ({invalid})" if invalid else count)


def median_of(values: Sequence[float | None]) -> Field:
    """The median of a figure over trials; not known where any of them lacks it."""
    known = [value for value in values if value is not None]
    return Field(number(median(known))) if len(known) == len(values) else unknown()


def pairs(rows: list[tuple[str, str]]) -> tuple[tuple[Field, ...], ...]:
    """Names and values as the rows of a table."""
    return tuple((Field(key), Field(value)) for key, value in rows)
