"""Format the answer of a run as lines of text for a terminal with 80 columns and 25 lines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from loadtests.formatting import plural, printable
from loadtests.report.terminal_tables import GAP, safe_text, wrapped
from loadtests.report.view import Page, RunAnswer, Table

LINES, WIDTH = 25, 80
STYLES = {"good": "green", "bad": "red", "muted": "dim", "unverified": "dim", "": ""}
APART = 4  # maximum number of empty lines between the parts
NAMES = 30  # maximum length of a label in the table; longer labels are cut


@dataclass
class _Column:
    """A column of the table: its heading, and for each row a figure and a detail."""

    heading: str
    figures: list[str]
    details: list[str]
    tones: list[str]
    names: bool = False
    least: int = 0

    @property
    def figure(self) -> int:
        return max(map(cell_len, self.figures))

    @property
    def detail(self) -> int:
        return max(map(cell_len, self.details))

    @property
    def width(self) -> int:
        longest = max(map(cell_len, self.heading.split()))
        return max(self.least, longest, self.figure + (1 + self.detail if self.detail else 0))

    def cell(self, row: int) -> Text:
        """Return the text of a row, with the figure aligned to the right and the detail to the left."""
        text = _right(self.figures[row], self.figure)
        if not self.detail:
            return safe_text(_right(text, self.width), STYLES[self.tones[row]])
        return safe_text(_left(f"{text} {self.details[row]}", self.width), STYLES[self.tones[row]])

    def headings(self) -> list[str]:
        align = _left if self.detail or self.names else _right
        return [align(line, self.width) for line in textwrap.wrap(self.heading, self.width, break_on_hyphens=False)]


def lines(page: Page, where: str = "") -> list[Text]:
    """Return a page's answer in at most LINES lines of WIDTH columns. The line with ``where``, the path, may be longer.

    If there isn't enough room, sentences about winners (except the first) are left out, and then rows of the table.
    """
    found = page.answer
    title = wrapped(page.title, WIDTH, "bold")[:2]
    end = [safe_text(f"The page: {where}")] if where else []
    columns = _columns(found.table) if found.table else {}
    table = _rows(list(columns.values()))
    room = LINES - len(title) - 1
    headlines = _cut([line for one in found.headlines for line in wrapped(one, WIDTH)], room // 3)
    notes = _fitting((wrapped(one, WIDTH, "dim") for one in _notes(found, columns)), room // 2)
    sentences = [wrapped(one, WIDTH) for one in found.winners]
    table = _cut(table, room - len(headlines) - len(notes) - sum(map(len, sentences[:1])))
    room -= len(headlines) + len(table) + len(notes)
    # A few sentences with empty lines between the parts are more readable than many sentences without empty lines.
    winners = _fitting(sentences, room - APART) or _fitting(sentences, room)
    parts = [part for part in (title, [*headlines, *winners], table, notes, end) if part]
    apart = sum(map(len, parts)) + len(parts) - 1 <= LINES
    return [line for place, part in enumerate(parts) for line in [*([Text()] if apart and place else []), *part]]


def _notes(found: RunAnswer, columns: Mapping[int, _Column]) -> Iterator[str]:
    """Yield the legend of the shown columns, the explanations of the shown signs, and the notes."""
    if found.table is not None:
        left = len(found.table.columns) - len(columns)
        more = f" On the page: {plural(left, 'more column')}." if left else ""
        yield f"{found.legend(columns)}{more}"
    shown = "".join(detail for column in columns.values() for detail in column.details)
    yield from (text for sign, text in found.marks if sign in shown)
    yield from (*found.unverified, *found.notes)


def _fitting(parts: Iterable[list[Text]], room: int) -> list[Text]:
    kept: list[Text] = []
    for part in parts:
        if len(kept) + len(part) <= room:
            kept += part
    return kept


def _cut(lines: list[Text], room: int) -> list[Text]:
    """Return the lines that fit. If some lines don't fit, the last line states how many lines are left out."""
    if len(lines) <= room:
        return lines
    return [*lines[: room - 1], safe_text(f"... and {len(lines) - room + 1} more, on the page", "dim")]


def _columns(table: Table) -> dict[int, _Column]:
    """Return the columns that fit, by their index. An optional column loses its details before it is dropped."""
    columns = dict(enumerate(_column(table, place) for place in range(len(table.columns))))
    for place in table.optional:
        if _width(columns.values()) > WIDTH:
            columns[place].details = [""] * len(table.rows)
        if _width(columns.values()) > WIDTH:
            del columns[place]
    for column in columns.values():
        # If there is room, make the column wide enough for its heading, because a wrapped heading is hard to read.
        column.least = len(column.heading)
        if _width(columns.values()) > WIDTH:
            column.least = 0
    return columns


def _rows(columns: Sequence[_Column]) -> list[Text]:
    if not columns:
        return []
    heads = [column.headings() for column in columns]
    height = max(map(len, heads))
    padded = [[*[""] * (height - len(head)), *head] for head in heads]
    drawn = [_row(safe_text(line, "dim") for line in _padded(level, columns)) for level in zip(*padded, strict=True)]
    return [*drawn, *(_row(column.cell(row) for column in columns) for row in range(len(columns[0].figures)))]


def _padded(level: Iterable[str], columns: Sequence[_Column]) -> Iterator[str]:
    return (_left(line, column.width) for line, column in zip(level, columns, strict=True))


def _column(table: Table, place: int) -> _Column:
    """Return a column at its full width. The first column contains the setups' names."""
    fields = [row[place] for row in table.rows]
    if not place:
        names = [_shortened(field.text) for field in fields]
        width = max(map(cell_len, names))
        plain = [""] * len(names)
        return _Column(table.columns[0], [_left(name, width) for name in names], plain, plain, names=True)
    return _Column(
        table.columns[place],
        [field.text for field in fields],
        [field.detail for field in fields],
        [field.tone for field in fields],
    )


def _shortened(name: str) -> str:
    name = printable(name)
    return name if len(name) <= NAMES else f"{name[: NAMES - 3]}..."


def _row(cells: Iterable[Text]) -> Text:
    row = Text(" " * GAP).join(cells)
    row.rstrip()
    return row


def _width(columns: Iterable[_Column]) -> int:
    return sum(column.width + GAP for column in columns) - GAP


def _left(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text
