"""The tables of measured figures, and the cells they are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from loadtests.analyse import metrics
from loadtests.analyse.results import Measured, Results
from loadtests.report import order
from loadtests.report.view import Cell, Table
from loadtests.report.words import DASH, interval, number, relative, series

Column = Callable[[Measured], Cell]
Columns = Mapping[str, Column]
MEDIAN = f"Median over blocks and its 95% interval. {DASH}: not known."


def measured(
    results: Results,
    test: dict[str, Any],
    name: str,
    caption: str,
    shown: Mapping[str, str],
    more: Columns | None = None,
    optional: Sequence[str] = (),
    note: str = MEDIAN,
) -> Table:
    """A row for each setup, by effect; ``shown`` are the metrics and their headings, ``more`` the columns after them.

    ``more`` is how many requests failed and on how many trials the figures stand, unless it says otherwise;
    ``optional`` are the headings of what a narrow terminal leaves out, the first to go first.
    """
    after: Columns = {"failed": failures, "trials": counted} if more is None else more
    rows = []
    for label in order.by_estimate(results, test["name"], next(iter(shown))):
        cell = results.cells[label, test["name"]]
        if cell.valid:
            fields = [estimate(results, label, test["name"], metric) for metric in shown]
        else:
            fields = [Cell(why_empty(cell), tone="muted"), *(Cell(DASH, tone="muted") for _ in range(len(shown) - 1))]
        rows.append((Cell(label), *fields, *(field(cell) for field in after.values())))
    columns = ("setup", *shown.values(), *after)
    return Table(
        name,
        caption,
        columns,
        tuple(rows),
        note,
        numeric=frozenset(range(1, len(columns))),
        optional=tuple(columns.index(heading) for heading in optional),
    )


def why_empty(cell: Measured) -> str:
    """Why there is no figure: what made the last trial invalid, or that there was none."""
    if not cell.invalid:
        return "not measured"
    reasons = [flag["reason"].replace("_", " ") for flag in cell.invalid[-1].flags if flag["severity"] == "invalid"]
    return f"invalid: {reasons[0]}" if reasons else "invalid"


def estimate(results: Results, label: str, test: str, metric: str) -> Cell:
    """The median and interval of a metric."""
    found = results.estimate(label, test, metric)
    if found is None:
        return Cell(DASH, tone="muted")
    text = number(found.median)
    return Cell(text, interval(found), f"{text} {relative(found)}".strip())


def failures(cell: Measured) -> Cell:
    """How many requests of the valid trials failed, and how."""
    total = sum(int((trial.result or {}).get("sent") or 0) for trial in cell.valid)
    kinds: Counter[str] = Counter()
    for trial in cell.valid:
        kinds.update(metrics.failures(trial))
    count = sum(kinds.values())
    if not cell.valid:
        return Cell(DASH, tone="muted")
    if not count:
        return Cell("0")
    share = f"{count / total:.2%}" if total else ""
    return Cell(
        f"{count:,}",
        ", ".join(filter(None, [share, *(f"{kind} {many:,}" for kind, many in sorted(kinds.items()))])),
        f"{count:,} ({share})" if share else f"{count:,}",
        tone="bad",
    )


def counted(cell: Measured) -> Cell:
    """How many trials the figures stand on, and how many were left out."""
    invalid = f"{len(cell.invalid)} invalid" if cell.invalid else ""
    return Cell(str(len(cell.valid)), invalid, f"{len(cell.valid)} ({invalid})" if invalid else str(len(cell.valid)))


def pairs(rows: list[tuple[str, str]]) -> tuple[tuple[Cell, ...], ...]:
    """Names and values as the rows of a table."""
    return tuple((Cell(key), Cell(value)) for key, value in rows)


def flat(values: Any, prefix: str = "") -> list[tuple[str, str]]:
    """A nested dictionary as rows: ``{"cpu": {"cores": 2}}`` gives ``("cpu cores", "2")``."""
    if isinstance(values, dict):
        rows = [flat(value, f"{prefix} {_worded(key)}".strip()) for key, value in values.items()]
        return [row for part in rows for row in part]
    if isinstance(values, (list, tuple)):
        return [(prefix, series([str(value) for value in values]) if values else DASH)]
    words = {None: DASH, True: "yes", False: "no"}
    return [(prefix, words[values] if values is None or isinstance(values, bool) else str(values))]


def _worded(key: str) -> str:
    """``memory_mb`` as words; a name with dots in it (``net.ipv4.tcp_tw_reuse``) is somebody else's and stays."""
    return key if "." in key else key.replace("_", " ")
