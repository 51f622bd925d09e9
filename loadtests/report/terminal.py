"""The report in a terminal: the tables of the page, and where the page is."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from loadtests.report.view import Cell, Page, Section, Table

PLAIN_WIDTH = 200  # where there is no terminal whose width would be its own, lines are as long as they need be
STYLES = {"good": "green", "bad": "red", "muted": "dim", "": ""}
LEFT_OUT = ("compared", "repeat", "generator")  # sections and tables that only the pages have


def show(page: Page, console: Console, where: str) -> None:
    """Prints the report. Not on a terminal, it is plain and aligned, and nothing is wrapped."""
    width = console.width
    if not console.is_terminal:
        console.width = max(width, PLAIN_WIDTH)
    try:
        _print(page, console, where)
    finally:
        console.width = width


def _print(page: Page, console: Console, where: str) -> None:
    console.print(Text(page.title, style="bold"))
    if page.question:
        console.print(Text(page.question))
    for section in page.sections:
        if section.name not in LEFT_OUT:
            _section(section, console)
    console.print()
    for sentence in page.summary:
        console.print(Text(sentence))
    console.print(Text(f"The page: {where}"), soft_wrap=True)


def _section(section: Section, console: Console) -> None:
    if not section.tables:
        for paragraph in section.paragraphs:
            console.print()
            console.print(Text(paragraph))
    for table in (table for table in section.tables if table.name not in LEFT_OUT):
        console.print()
        console.print(Text(table.caption, style="bold"))
        console.print(_table(table))
        if table.note:
            console.print(Text(table.note, style="dim"))


def _table(table: Table) -> RichTable:
    drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, column in enumerate(table.columns):
        drawn.add_column(Text(column), justify="right" if place in table.numeric else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(_text(field) for field in row))
    return drawn


def _text(field: Cell) -> Text:
    return Text(field.short or field.text, style=STYLES[field.tone])
