"""Print tables and texts in a terminal, all in the same style."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Collection, Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from loadtests.formatting import printable

PLAIN_WIDTH = 200  # maximum width of lines if the output isn't a terminal
GAP = 2  # spaces between columns


@contextlib.contextmanager
def unwrapped(console: Console) -> Iterator[None]:
    """Allow long lines unless the console is a terminal."""
    width = console.width
    if not console.is_terminal:
        console.width = max(width, PLAIN_WIDTH)
    try:
        yield
    finally:
        console.width = width


def safe_text(text: str, style: str = "") -> Text:
    """Return a text without the markup and the terminal commands that untrusted data may contain."""
    return Text(printable(text), style)


def wrapped(text: str, width: int, style: str = "", indent: int = 2) -> list[Text]:
    """Remove the terminal commands from a text, and wrap it to ``width`` columns. Indent all lines after the first."""
    # Remove terminal commands before wrapping, because a command that is split into two lines isn't recognised.
    plain = " ".join(printable(text).split())
    lines = textwrap.wrap(plain, width, subsequent_indent=" " * indent, break_on_hyphens=False)
    return [safe_text(line, style) for line in lines]


def grid(columns: Iterable[str], right: Collection[int] = (), whole: Collection[int] = ()) -> Table:
    """Return a table with these headings, but without rows and without lines between cells.

    The columns in ``right`` (counted from 0) are aligned to the right, and the columns in ``whole`` don't wrap.
    """
    headings = list(columns)
    drawn = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim", show_header=any(headings))
    for place, column in enumerate(headings):
        drawn.add_column(
            safe_text(column),
            justify="right" if place in right else "left",
            overflow="fold",
            no_wrap=place in whole,
        )
    return drawn


def print_grid(console: Console, table: Table, title: str = "", note: str = "") -> None:
    with unwrapped(console):
        if title:
            console.print(safe_text(title, "bold"))
        console.print(table)
        if note:
            console.print(safe_text(note, "dim"))
