"""The tables in a terminal: one style for all that is printed."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Collection, Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from loadtests.formatting import printable

PLAIN_WIDTH = 200  # where there is no terminal whose width would be its own, lines are as long as they need be
GAP = 2  # between columns


@contextlib.contextmanager
def unwrapped(console: Console) -> Iterator[None]:
    """Meanwhile lines are as long as they need be, unless there is a terminal, whose width is its own."""
    width = console.width
    if not console.is_terminal:
        console.width = max(width, PLAIN_WIDTH)
    try:
        yield
    finally:
        console.width = width


def told(text: str, style: str = "") -> Text:
    """A text that may hold what is not ours: no markup, and nothing that a terminal obeys."""
    return Text(printable(text), style)


def wrapped(text: str, width: int, style: str = "", indent: int = 2) -> list[Text]:
    """A text that may hold what is not ours, in lines of at most ``width`` columns that are broken at words; those
    after the first are ``indent`` columns in."""
    # First what a terminal would obey goes out: half of a command is none.
    plain = " ".join(printable(text).split())
    lines = textwrap.wrap(plain, width, subsequent_indent=" " * indent, break_on_hyphens=False)
    return [told(line, style) for line in lines]


def grid(columns: Iterable[str], right: Collection[int] = (), whole: Collection[int] = ()) -> Table:
    """An empty table without lines; the columns ``right`` (from 0) are flush right, and those ``whole`` keep to one
    line where others give way. Without any heading it has no line of headings."""
    headings = list(columns)
    drawn = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim", show_header=any(headings))
    for place, column in enumerate(headings):
        drawn.add_column(
            told(column),
            justify="right" if place in right else "left",
            overflow="fold",
            no_wrap=place in whole,
        )
    return drawn


def print_grid(console: Console, table: Table, title: str = "", note: str = "") -> None:
    """Prints a table between its title and a remark on it."""
    with unwrapped(console):
        if title:
            console.print(told(title, "bold"))
        console.print(table)
        if note:
            console.print(told(note, "dim"))
