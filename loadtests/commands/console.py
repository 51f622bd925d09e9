"""Where commands print, and how they fail."""

from __future__ import annotations

import json
import sys
from typing import NoReturn

from rich.console import Console
from rich.markup import escape

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """Prints text as it is, on as many lines as it has."""
    out.print(escape(text), soft_wrap=True)


def say_json(values: object) -> None:
    """Prints JSON."""
    out.print_json(json.dumps(values))


def fail(message: str, code: int = 1) -> NoReturn:
    """Ends the command with one line that says what went wrong, and an exit code that is not 0."""
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)
    sys.exit(code)
