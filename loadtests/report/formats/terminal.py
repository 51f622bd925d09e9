"""Print the report in a terminal: its answer in at most 25 lines of 80 columns, or with ``--tables`` all tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from loadtests.formatting import DASH, plural
from loadtests.report.terminal_tables import GAP, grid, print_grid, safe_text, unwrapped, wrapped
from loadtests.report.view import Field, Page, RunAnswer, Section, Table

LINES, WIDTH = 25, 80
STYLES = {"good": "green", "bad": "red", "muted": "dim", "unverified": "dim", "": ""}
APART = 4  # maximum number of empty lines between the parts of the answer
Cells = dict[int, list[Text]]  # the texts of a table's columns, by the index of the column


def lines(page: Page, where: str = "") -> list[Text]:
    """Return a page's answer in at most LINES lines of WIDTH columns. The line with ``where``, the path, may be longer.

    If there isn't enough room, sentences about winners (except the first) are left out, and then rows of the table.
    """
    found = page.answer
    title = wrapped(page.title, WIDTH, "bold")[:2]
    end = [safe_text(f"The page: {where}")] if where else []
    cells = _fitting(found.table, WIDTH, details=True) if found.table else {}
    table = _lines_of(found.table, cells) if found.table else []
    room = LINES - len(title) - 1
    headlines = _cut([line for one in found.headlines for line in wrapped(one, WIDTH)], room // 3)
    notes = _fit((wrapped(one, WIDTH, "dim") for one in _notes(found, cells)), room // 2)
    sentences = [wrapped(one, WIDTH) for one in found.winners]
    table = _cut(table, room - len(headlines) - len(notes) - sum(map(len, sentences[:1])))
    room -= len(headlines) + len(table) + len(notes)
    # A few sentences with empty lines between the parts are more readable than many sentences without empty lines.
    winners = _fit(sentences, room - APART) or _fit(sentences, room)
    parts = [part for part in (title, [*headlines, *winners], table, notes, end) if part]
    apart = sum(map(len, parts)) + len(parts) - 1 <= LINES
    return [line for place, part in enumerate(parts) for line in [*([Text()] if apart and place else []), *part]]


def _notes(found: RunAnswer, cells: Mapping[int, list[Text]]) -> Iterator[str]:
    """Yield the legend of the shown columns, the explanations of the shown signs, and the notes."""
    if found.table is not None:
        left = len(found.table.columns) - len(cells)
        more = f" On the page: {plural(left, 'more column')}." if left else ""
        yield f"{found.legend(cells)}{more}"
        shown = "".join(row[place].detail for row in found.table.rows for place in cells)
        yield from (text for sign, text in found.marks if sign in shown)
    yield from (*found.unverified, *found.notes)


def _fit(parts: Iterable[list[Text]], room: int) -> list[Text]:
    kept: list[Text] = []
    for part in parts:
        if len(kept) + len(part) <= room:
            kept += part
    return kept


def _cut(lines: list[Text], room: int) -> list[Text]:
    """Return the lines that fit. If some lines don't fit, the last line states how many lines are left out."""
    if len(lines) <= room:
        return lines
    room = max(room, 1)
    return [*lines[: room - 1], safe_text(f"... and {len(lines) - room + 1} more, on the page", "dim")]


def _lines_of(table: Table, cells: Cells) -> list[Text]:
    """Return the lines of a table as they appear in a terminal with WIDTH columns."""
    drawn = Console(width=WIDTH).render_lines(_grid(table, cells), pad=False)
    found = [Text.assemble(*((part.text, part.style or "") for part in line)) for line in drawn]
    for line in found:
        line.rstrip()
    return found


def show(page: Page, console: Console, where: str) -> None:
    for line in lines(page, where):
        console.print(line, soft_wrap=True)


def show_all(page: Page, console: Console, where: str) -> None:
    with unwrapped(console):
        for line in lines(page):
            console.print(line)
        console.print()
        console.print(_findings(page))
        if page.certainty:
            console.print(safe_text(page.certainty, style="dim"))
        for section in page.sections:
            if not section.only_on_pages:
                _section(section, console)
        console.print()
        console.print(safe_text(f"The page: {where}"), soft_wrap=True)


def print_table(table: Table, console: Console) -> None:
    """Print a table without the optional columns that don't fit into the terminal."""
    with unwrapped(console):
        drawn = _grid(table, _fitting(table, console.width))
        print_grid(console, drawn, table.caption, table.note)


def _findings(page: Page) -> RichTable:
    drawn = RichTable.grid(padding=(0, GAP, 0, 0))
    drawn.add_column(ratio=2)
    drawn.add_column(ratio=3)
    for finding in page.findings:
        drawn.add_row(safe_text(finding.question, style="bold"), safe_text(finding.answer))
    return drawn


def _section(section: Section, console: Console) -> None:
    shown = [table for table in section.tables if not table.only_on_pages]
    if not shown:
        console.print()
        for paragraph in section.paragraphs:
            console.print(safe_text(paragraph))
    for table in shown:
        console.print()
        print_table(table, console)


def _fitting(table: Table, width: int, details: bool = False) -> Cells:
    """Return the texts of a table's columns, without empty columns and optional columns that don't fit.

    With ``details``, an optional column loses its details before it is dropped.
    """
    columns = {place: [row[place] for row in table.rows] for place in range(len(table.columns))}
    shown = {
        place: _texts(fields, details and place in table.numeric)
        for place, fields in columns.items()
        if not place or not _empty(fields)
    }
    for optional in table.optional:
        if optional in shown and not _fits(table, shown, width):
            shown[optional] = _texts(columns[optional], details=False)
        if not _fits(table, shown, width):
            shown.pop(optional, None)
    return shown


def _fits(table: Table, shown: Cells, width: int) -> bool:
    return sum(_width(table, place, texts) + GAP for place, texts in shown.items()) - GAP <= width


def _empty(fields: Sequence[Field]) -> bool:
    return bool(fields) and all(field.text in ("", DASH) and not field.detail for field in fields)


def _texts(fields: Sequence[Field], details: bool) -> list[Text]:
    """Return the texts of a column. With ``details``, they contain the fields' texts and details, both aligned."""
    texts = [field.short or field.text for field in fields]
    if details and any(field.detail for field in fields):
        figure, detail = (max(cell_len(getattr(one, name)) for one in fields) for name in ("text", "detail"))
        texts = [
            set_cell_size(f"{' ' * (figure - cell_len(one.text))}{one.text} {one.detail}", figure + 1 + detail)
            for one in fields
        ]
    return [safe_text(text, STYLES[field.tone]) for text, field in zip(texts, fields, strict=True)]


def _grid(table: Table, cells: Cells) -> RichTable:
    """Return a table of texts. Numbers are aligned to the right, unless all texts of their column are equally long."""
    uneven = [len({text.cell_len for text in texts}) > 1 for texts in cells.values()]
    right = [column for column, place in enumerate(cells) if place in table.numeric and uneven[column]]
    drawn = grid((_heading(table, place, texts) for place, texts in cells.items()), right)
    for row in zip(*cells.values(), strict=True):
        drawn.add_row(*row)
    return drawn


def _heading(table: Table, place: int, texts: list[Text]) -> str:
    """Return the column's heading, wrapped to the width of its fields."""
    longest = max((text.cell_len for text in texts), default=0)
    words = table.columns[place].split()
    return textwrap.fill(" ".join(words), max(longest, *(cell_len(word) for word in ("", *words))))


def _width(table: Table, place: int, texts: list[Text]) -> int:
    headings = map(cell_len, _heading(table, place, texts).splitlines())
    return max([*headings, *(text.cell_len for text in texts)])
