"""Describe the content of a report independently of its format: terminal output, reST page or HTML page."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from loadtests.formatting import series
from loadtests.report.charts.shared import Chart


@dataclasses.dataclass(frozen=True)
class Field:
    """A field of a table.

    Attributes:
        text: The text, such as a figure.
        detail: An interval or a remark after the text.
        short: A short form of the text and the detail for the terminal.
        tone: "good", "bad", "muted", "unverified" (a figure that the reST page leaves out) or "".
    """

    text: str
    detail: str = ""
    short: str = ""
    tone: str = ""


@dataclasses.dataclass(frozen=True)
class Table:
    """A table. Its first column names the rows. The columns in ``numeric`` (counted from 0) are right-aligned."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Field, ...], ...]
    note: str = ""
    numeric: frozenset[int] = frozenset()
    optional: tuple[int, ...] = ()  # columns that a narrow terminal drops, in this order
    folded: bool = False  # whether a page may show only the caption until the reader opens the table
    grouped: int | None = None  # the column whose values a page may show as headings over groups of rows
    only_on_pages: bool = False  # not shown in a terminal


@dataclasses.dataclass(frozen=True)
class Section:
    """A section of a report: a heading and its content.

    ``name`` is the section's anchor. ``reading`` explains how to read the section, and a page may fold this text.
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
    """A question of the run and its answer.

    Attributes:
        question: The question, with the test conditions.
        answer: The whole answer.
        brief: The first sentence of the answer.
        certain: Whether the answer is certain, for example because it names a winner.
        test: The name of the test.
    """

    question: str
    answer: str
    brief: str = ""
    certain: bool = False
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
        unverified: Remarks on unverified figures. The reST page leaves out these figures and the remarks.
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
        """The legend of the whole table, the explanations of the marks, and ``notes``."""
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
    """The top of a page.

    Attributes:
        lead: The answer to the first question, or the advice.
        failed: The failures and the machines.
        rest: The answers to other questions.
        chart: A chart of the answer.
        table: A table with a row for each setup.
        notes: The legend of the table, and remarks on the run.
    """

    lead: tuple[str, ...]
    failed: tuple[str, ...]
    rest: tuple[str, ...]
    chart: Chart | None
    table: Table | None
    notes: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Page:
    """The whole report: the short answer, the top of the page, a finding for each question, and the sections.

    ``certainty`` is a sentence about the confidence in the findings. ``labels`` contains the labels of all setups.
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
        """The start of the run, to the minute, such as ``2026-11-25 22:40 UTC``."""
        return f"{self.created[:16].replace('T', ' ')} UTC"

    @property
    def charts(self) -> tuple[Chart, ...]:
        first = (self.top.chart,) if self.top.chart else ()
        return (*first, *(chart for section in self.sections for chart in section.charts))
