"""Print the output and the errors of commands."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
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
    """Remove terminal control characters from all output."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Printed(one) for one in renderables]


class _Printed:
    """A renderable without terminal control characters."""

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
    "These programs slow down the start of servers. If other programs use more than a quarter of the cores, figures "
    "are unverified and not ranked."
)
out = _console()
err = _console(stderr=True)


def data(value: object, style: str = "") -> Text:
    """Convert a value to text for a table or a line, without interpreting markup or control characters in it."""
    return safe_text(str(value), style)


def say(text: str) -> None:
    """Print a text unchanged."""
    out.print(data(text), soft_wrap=True)


def say_wrapped(text: str, indent: int = 2) -> None:
    """Print a text. On a terminal, wrap long lines at words, and indent the continuation lines."""
    for line in text.splitlines():
        if out.is_terminal:
            out.print(*wrapped(line, out.width, indent=indent), sep="\n")
        else:
            say(line)


def say_json(values: object) -> None:
    """Print JSON."""
    out.print_json(json.dumps(values))


@contextlib.contextmanager
def waiting(console: Console, doing: str = "preparing") -> Iterator[Announce]:
    """Show the current step of a command until its results are ready. Yield the function that sets the step.

    On a terminal, only the latest step is visible, and it disappears at the end. Other outputs receive a line for each
    step. Print errors after this context.
    """
    if not console.is_terminal:
        yield lambda doing: console.print(data(f"{doing} ..."), soft_wrap=True)
        return
    with console.status("") as status:

        def announce(doing: str) -> None:
            status.update(data(f"{doing} ..."), spinner="dots")  # the spinner makes rich draw the text immediately

        announce(doing)
        yield announce


def warn(message: str) -> None:
    """Print a one-line warning on standard error."""
    err.print(Text.assemble(("warning:", "yellow"), " ", data(message)), soft_wrap=True)


def look_first(console: Console, anyway: bool = False) -> None:
    """Before servers start, warn about programs that use the cores. On a terminal, ask whether to continue.

    Args:
        console: The console that shows the warning and the question.
        anyway: Whether to continue without asking.
    """
    from loadtests.observe import doctor

    found = doctor.other_load()
    if found.level == "ok":
        return
    console.print(Text.assemble(("busy:", "yellow"), " ", data(f"{found.what}. {COSTS}")), soft_wrap=True)
    if not anyway and console.is_terminal and sys.stdin.isatty() and not typer.confirm("Continue?", err=True):
        fail(f"not started; {found.fix}")


def fail(message: str, code: int = 1) -> NoReturn:
    """End the command with a one-line error and an exit status other than 0."""
    err.print(Text.assemble(("error:", "bold red"), " ", data(message)), soft_wrap=True)
    sys.exit(code)
