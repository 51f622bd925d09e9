"""Where commands print, and how they fail."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import NoReturn

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment
from rich.text import Text

from loadtests.formatting import printable
from loadtests.report.terminal_tables import told, wrapped


class _Printable(RenderHook):
    """Takes out of all that is printed what a terminal would obey, wherever it came from."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """What Rich calls before it prints."""
        return [_Printed(one) for one in renderables]


class _Printed:
    """Something to print, without what a terminal would obey."""

    def __init__(self, inner: ConsoleRenderable) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, style, control in console.render(self.inner, options):
            yield Segment(text if control else printable(text), style, control)


def _console(stderr: bool = False) -> Console:
    made = Console(stderr=stderr, highlight=False, emoji=False)
    made.push_render_hook(_Printable())
    return made


out = _console()
err = _console(stderr=True)


def data(value: object, style: str = "") -> Text:
    """A value that is not ours, as a cell of a table or a part of a line: no markup, and nothing a terminal obeys."""
    return told(str(value), style)


def row(values: Iterable[object]) -> list[Text]:
    """The cells of a row of such values."""
    return [data(value) for value in values]


def say(text: str) -> None:
    """Prints text as it is, on as many lines as it has."""
    out.print(data(text), soft_wrap=True)


def say_wrapped(text: str, indent: int = 2) -> None:
    """Prints text line by line; in a terminal what is longer goes on below, broken at words, ``indent`` columns in."""
    for line in text.splitlines():
        if out.is_terminal:
            out.print(*wrapped(line, out.width, indent=indent), sep="\n")
        else:
            say(line)


def say_json(values: object) -> None:
    """Prints JSON."""
    out.print_json(json.dumps(values))


def fail(message: str, code: int = 1) -> NoReturn:
    """Ends the command with one line that says what went wrong, and an exit code that is not 0."""
    err.print(Text.assemble(("error:", "bold red"), " ", data(message)), soft_wrap=True)
    sys.exit(code)
