"""The templates of a profile: drawing, HTML page, reST page."""

from __future__ import annotations

from pathlib import Path

import jinja2

from loadtests.report.formats.templates import finalized

FOLDER = Path(__file__).resolve().parent


def environment() -> jinja2.Environment:
    """Templates that escape what they are given but in reST, and fail on a name they were not given."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=lambda name: name is not None and not name.endswith(".rst.j2"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=finalized,
    )


def source(name: str) -> str:
    """The text of a file beside the templates."""
    return (FOLDER / name).read_text(encoding="utf-8")
