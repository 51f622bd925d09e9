"""What a report says, before anything says how it looks: sections of tables and charts.

The terminal, the reST page and the HTML page are three ways to write the same sections down.
"""

from __future__ import annotations

import dataclasses

from loadtests.report.charts.base import Chart


@dataclasses.dataclass(frozen=True)
class Field:
    """One field of a table: its text, its interval or remark, and the shorter form of it for a terminal.

    ``tone`` is how it is to be read: "good", "bad", "muted" or "".
    """

    text: str
    detail: str = ""
    short: str = ""
    tone: str = ""


@dataclasses.dataclass(frozen=True)
class Table:
    """A table. The first column names the row; ``numeric`` columns (from 0) are set flush right."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Field, ...], ...]
    note: str = ""
    numeric: frozenset[int] = frozenset()
    optional: tuple[int, ...] = ()  # the columns that a narrow terminal leaves out, the first to go first
    folded: bool = False  # where a page can fold, it shows the caption alone
    grouped: int | None = None  # the column that a page may turn into a heading over the rows that share its text
    only_on_pages: bool = False  # not in a terminal


@dataclasses.dataclass(frozen=True)
class Section:
    """A heading with what stands below it. ``name`` is its anchor."""

    name: str
    heading: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    commands: tuple[str, ...] = ()
    folded: tuple[tuple[str, str], ...] = ()  # titles and texts to be shown as they are, where a page can fold
    only_on_pages: bool = False  # not in a terminal


@dataclasses.dataclass(frozen=True)
class Finding:
    """One answer of the run: what was asked, and what came out of it, in a sentence or three.

    It is ``certain`` where it names one setup first.
    """

    asked: str
    answer: str
    certain: bool = False


@dataclasses.dataclass(frozen=True)
class Page:
    """The whole report. ``findings`` are what a reader in a hurry reads; ``summary`` says what they stand on."""

    title: str
    question: str
    created: str
    findings: tuple[Finding, ...]
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    labels: tuple[str, ...]

    @property
    def charts(self) -> tuple[Chart, ...]:
        """All charts, in the order of the page."""
        return tuple(chart for section in self.sections for chart in section.charts)
