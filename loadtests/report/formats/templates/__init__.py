"""Load the templates of the report's pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2

from loadtests.formatting import printable

FOLDER = Path(__file__).resolve().parent


def environment() -> jinja2.Environment:
    """Return a Jinja environment that escapes HTML, removes unprintable characters, and fails for undefined names."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=lambda name: name is not None and name.endswith(".html.j2"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        finalize=finalized,
    )


def finalized(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return type(value)(printable(value))  # keep the type Markup, so that HTML isn't escaped again


def source(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
