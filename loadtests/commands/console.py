"""Where commands print, and how they fail."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NoReturn

import typer
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment
from rich.text import Text

from loadtests.formatting import printable
from loadtests.report.terminal_tables import safe_text, wrapped

if TYPE_CHECKING:
    from loadtests.setups.application.progress import Announce


class _Printable(RenderHook):
    """Removes the characters that a terminal would obey from all that is printed."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Printed(one) for one in renderables]


class _Printed:
    """A renderable without the characters that a terminal would obey."""

    def __init__(self, inner: ConsoleRenderable) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, style, control in console.render(self.inner, options):
            yield Segment(text if control else printable(text), style, control)


def _console(stderr: bool = False) -> Console:
    console = Console(stderr=stderr, highlight=False, emoji=False)
    console.push_render_hook(_Printable())
    return console


COSTS = (
    "While that goes on, servers take longer to start, and what loses over a quarter of its cores is unverified: it is "
    "shown, and never ranked."
)
out = _console()
err = _console(stderr=True)


def data(value: object, style: str = "") -> Text:
    """A value as a cell of a table or a part of a line: its markup is text, and a terminal obeys nothing in it."""
    return safe_text(str(value), style)


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


@contextlib.contextmanager
def waiting(console: Console, doing: str = "preparing") -> Iterator[Announce]:
    """Shows what a command is doing until it has results, from its slow imports on; yields the function to say so.

    A terminal shows the latest one and clears it at the end; elsewhere each is a line. Print errors after it.
    """
    if not console.is_terminal:
        yield lambda doing: console.print(data(f"{doing} ..."), soft_wrap=True)
        return
    with console.status("") as status:

        def announce(doing: str) -> None:
            status.update(data(f"{doing} ..."), spinner="dots")  # with a spinner it is drawn at once

        announce(doing)
        yield announce


def warn(message: str) -> None:
    """Prints one line that says what to mind, on standard error."""
    err.print(Text.assemble(("warning:", "yellow"), " ", data(message)), soft_wrap=True)


def look_first(console: Console, anyway: bool = False) -> None:
    """Says who takes the cores before anything is started, and what that costs; asks whether to go on ``anyway`` where
    there is somebody to ask."""
    from loadtests.measure import doctor

    found = doctor.other_load()
    if found.level == "ok":
        return
    console.print(Text.assemble(("busy:", "yellow"), " ", data(f"{found.what}. {COSTS}")), soft_wrap=True)
    if not anyway and console.is_terminal and sys.stdin.isatty() and not typer.confirm("Go on?", err=True):
        fail(f"not begun; {found.fix}")


def fail(message: str, code: int = 1) -> NoReturn:
    """Ends the command with one line that says what went wrong, and an exit code that is not 0."""
    err.print(Text.assemble(("error:", "bold red"), " ", data(message)), soft_wrap=True)
    sys.exit(code)
