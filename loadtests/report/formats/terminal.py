"""Print the report in a terminal: its answer, and with ``--tables`` all tables of the page."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from loadtests.formatting import DASH
from loadtests.report.formats import brief
from loadtests.report.formats.brief import STYLES
from loadtests.report.terminal_tables import GAP, grid, print_grid, safe_text, unwrapped
from loadtests.report.view import Field, Page, Section, Table


def show(page: Page, console: Console, where: str) -> None:
    for line in brief.lines(page, where):
        console.print(line, soft_wrap=True)


def show_all(page: Page, console: Console, where: str) -> None:
    with unwrapped(console):
        for line in brief.lines(page):
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
        print_grid(console, _table(table, console.width), table.caption, table.note)


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


def _table(table: Table, width: int) -> RichTable:
    places = _fitting(table, width)
    right = [column for column, place in enumerate(places) if place in table.numeric]
    drawn = grid((_heading(table, place) for place in places), right)
    for row in table.rows:
        drawn.add_row(*(_text(row[place]) for place in places))
    return drawn


def _fitting(table: Table, width: int) -> list[int]:
    """Return the indexes of a table's columns, without empty columns and optional columns that don't fit."""
    places = [place for place in range(len(table.columns)) if not place or not _empty(table, place)]
    for optional in table.optional:
        if sum(_width(table, place) + GAP for place in places) - GAP <= width:
            break
        places = [place for place in places if place != optional]
    return places


def _heading(table: Table, place: int) -> str:
    """Return the column's heading, wrapped to the width of its fields."""
    longest = max((cell_len(_text(row[place]).plain) for row in table.rows), default=0)
    words = table.columns[place].split()
    return textwrap.fill(" ".join(words), max(longest, *(cell_len(word) for word in ("", *words))))


def _width(table: Table, place: int) -> int:
    lines = (*_heading(table, place).splitlines(), *(_text(row[place]).plain for row in table.rows))
    return max(cell_len(line) for line in lines)


def _empty(table: Table, place: int) -> bool:
    return bool(table.rows) and all(row[place].text in ("", DASH) for row in table.rows)


def _text(field: Field) -> Text:
    return safe_text(field.short or field.text, style=STYLES[field.tone])
