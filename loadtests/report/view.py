"""What a report says, before anything says how it looks: sections of tables and charts.

The terminal, the reST page and the HTML page are three ways to write the same sections down.
"""

from __future__ import annotations

import dataclasses

from loadtests.report.charts.base import Chart


@dataclasses.dataclass(frozen=True)
class Cell:
    """One field of a table: the text, its interval or remark, and the shorter form of it for a terminal.

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
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    numeric: frozenset[int] = frozenset()


@dataclasses.dataclass(frozen=True)
class Section:
    """A heading with what stands below it. ``name`` is its anchor."""

    name: str
    heading: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    commands: tuple[str, ...] = ()
    logs: tuple[tuple[str, str], ...] = ()  # a title and a text to be shown as it is


@dataclasses.dataclass(frozen=True)
class Page:
    """The whole report. ``summary`` are its main findings, a sentence each."""

    title: str
    question: str
    created: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    labels: tuple[str, ...]

    @property
    def charts(self) -> tuple[Chart, ...]:
        """All charts, in the order of the page."""
        return tuple(chart for section in self.sections for chart in section.charts)
