"""What a report says, before anything says how it looks: sections of tables and charts.

The terminal, the reST page and the HTML page are three ways to write the same sections down.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from loadtests.formatting import series
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

    ``brief`` is the first of these sentences, and shorter where many are in front. The answer is ``certain`` where it
    names one setup first. ``front`` says no more than who is: of tests that are alike but for their load, that is told
    in one sentence, ``about`` what they were all asked. ``test`` is the name of the one that was.
    """

    asked: str
    answer: str
    brief: str = ""
    certain: bool = False
    front: str = ""
    about: str = ""
    test: str = ""


@dataclasses.dataclass(frozen=True)
class RunAnswer:
    """What the run has to say, for a reader in a hurry.

    ``foremost`` is what ran where, if not all on one machine, what failed and what is advised; ``firsts``, who is first
    in what was asked. The ``table`` has a row for each setup, and beside a figure what is certain of it; ``conditions``
    say of each of its columns under which condition the figures hold, and ``marks`` what stands beside them, each under
    the sign by which it is known. ``notes`` say what all of this stands on.
    """

    foremost: tuple[str, ...]
    firsts: tuple[str, ...]
    table: Table | None
    conditions: tuple[str, ...]
    marks: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What the whole table means, and ``notes``."""
        legend = [self.legend(range(len(self.conditions)))] if self.table else []
        return (*legend, *(f"{sign}: {meaning}" for sign, meaning in self.marks), *self.notes)

    def legend(self, places: Iterable[int]) -> str:
        """The conditions of some columns, in a sentence."""
        if self.table is None:
            return ""
        shown = [(self.table.columns[place].partition(",")[0], self.conditions[place]) for place in places]
        told = {condition: series([name for name, own in shown if own == condition]) for _, condition in shown}
        return f"{'; '.join(f'{names} {condition}' for condition, names in told.items() if condition)}."


@dataclasses.dataclass(frozen=True)
class Page:
    """The whole report: ``answer`` first; then ``findings``, one for each thing asked, what their
    ``certainty`` is, and the sections."""

    title: str
    question: str
    created: str
    answer: RunAnswer
    findings: tuple[Finding, ...]
    certainty: str
    sections: tuple[Section, ...]
    labels: tuple[str, ...]

    @property
    def charts(self) -> tuple[Chart, ...]:
        """All charts, in the order of the page."""
        return tuple(chart for section in self.sections for chart in section.charts)
