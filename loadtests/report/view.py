"""The content of a report, independent of its format: the terminal, the reST page and the HTML page render it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from loadtests.formatting import series
from loadtests.report.charts.shared import Chart


@dataclasses.dataclass(frozen=True)
class Field:
    """A field of a table: text, interval or remark, and a ``short`` form for the terminal.

    ``tone`` is "good", "bad", "muted", "unverified" (a figure that documents leave out) or "".
    """

    text: str
    detail: str = ""
    short: str = ""
    tone: str = ""


@dataclasses.dataclass(frozen=True)
class Table:
    """A table whose first column names the row. ``numeric`` columns (from 0) are aligned to the right."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Field, ...], ...]
    note: str = ""
    numeric: frozenset[int] = frozenset()
    optional: tuple[int, ...] = ()  # columns that a narrow terminal drops, in this order
    folded: bool = False  # a page may show only the caption
    grouped: int | None = None  # the column that a page may turn into headings over rows
    only_on_pages: bool = False  # not shown in a terminal


@dataclasses.dataclass(frozen=True)
class Section:
    """A heading and its content.

    ``name`` is its anchor. ``reading`` explains how to read it, and a page may fold this.
    """

    name: str
    heading: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    commands: tuple[str, ...] = ()
    reading: str = ""
    folded: tuple[tuple[str, str], ...] = ()  # titles and preformatted texts that a page may fold
    only_on_pages: bool = False  # not shown in a terminal


@dataclasses.dataclass(frozen=True)
class Finding:
    """A question of the run and its answer. ``brief`` is the answer's first sentence.

    ``certain`` means that it names a winner. ``leaders`` names the leading setups for the sentence that load steps
    share; ``topic`` is the question without its load, ``test`` the name of the test.
    """

    question: str
    answer: str
    brief: str = ""
    certain: bool = False
    leaders: str = ""
    topic: str = ""
    test: str = ""


@dataclasses.dataclass(frozen=True)
class RunAnswer:
    """The brief answer of a run.

    Attributes:
        headlines: The machines, the failures and the advice.
        winners: A sentence for each question.
        table: A table with a row for each setup.
        conditions: The test conditions of each column.
        marks: The signs in the table with their explanations.
        notes: Remarks on the run.
        unverified: Remarks on unverified figures. Documents leave out both.
    """

    headlines: tuple[str, ...]
    winners: tuple[str, ...]
    table: Table | None
    conditions: tuple[str, ...]
    marks: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    unverified: tuple[str, ...] = ()

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Return the legend of the whole table, the marks, and ``notes``."""
        legend = [self.legend(range(len(self.conditions)))] if self.table else []
        return (*legend, *(text for _, text in self.marks), *self.notes)

    def legend(self, places: Iterable[int]) -> str:
        names: dict[str, list[str]] = {}
        if (table := self.table) is None:
            return ""
        for place in places:
            names.setdefault(self.conditions[place], []).append(table.columns[place].partition(",")[0])
        return f"{'; '.join(f'{series(own)} {condition}' for condition, own in names.items() if condition)}."


@dataclasses.dataclass(frozen=True)
class Headline:
    """The top of a page: the answer, the failures, its ``chart`` and ``table`` with notes, and the other answers."""

    lead: tuple[str, ...]
    failed: tuple[str, ...]
    rest: tuple[str, ...]
    chart: Chart | None
    table: Table | None
    notes: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Page:
    """The whole report: ``answer``, a finding for each question with its certainty, and the sections.

    ``labels`` are all setups.
    """

    title: str
    question: str
    created: str
    answer: RunAnswer
    top: Headline
    findings: tuple[Finding, ...]
    certainty: str
    sections: tuple[Section, ...]
    labels: tuple[str, ...]

    @property
    def day(self) -> str:
        """Return the start of the run to the minute, such as ``2026-11-25 22:40 UTC``."""
        return f"{self.created[:16].replace('T', ' ')} UTC"

    @property
    def charts(self) -> tuple[Chart, ...]:
        first = (self.top.chart,) if self.top.chart else ()
        return (*first, *(chart for section in self.sections for chart in section.charts))
