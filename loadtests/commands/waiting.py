"""Something to see while a command has nothing to show yet: who waits is told within a second, and what for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from loadtests.commands.console import data
from loadtests.setups.application.progress import Announce


@contextlib.contextmanager
def waiting(console: Console, doing: str = "preparing") -> Iterator[Announce]:
    """A function to be told of each thing that takes its time; ``doing`` is the first, the slow imports included.

    In a terminal the last one is shown while it is done, and gone at the end. Elsewhere each that is told is a line.
    Errors are printed after it, not within.
    """
    if not console.is_terminal:
        yield lambda told: console.print(_shown(told), soft_wrap=True)
        return
    with console.status("") as status:

        def tell(told: str) -> None:
            # With a spinner it is drawn at once, and not when the thread that draws has its turn.
            status.update(_shown(told), spinner="dots")

        tell(doing)
        yield tell


def _shown(doing: str) -> Text:
    return data(f"{doing} ...")
