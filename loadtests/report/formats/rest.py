"""Write the reST page that the documentation includes, with plain directives and without raw HTML."""

from __future__ import annotations

import re

from rich.cells import cell_len

from loadtests.formatting import printable
from loadtests.report.formats.templates import environment
from loadtests.report.view import Field, Page


def rst(page: Page) -> str:
    """Return the text of the reST page, which refers to the chart files in ``charts/``."""
    templates = environment()
    templates.filters.update(rst=escape, paragraph=paragraph, cell=_cell)
    templates.globals["heading"] = _heading
    text = templates.get_template("index.rst.j2").render(page=page)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


# Matches the start of a line that reST reads as a directive, a field, a list or the underline of a heading.
_BEGINS_MARKUP = re.compile(r"(?=[!-\'*-/:-@\[\]^`{-~•‣⁃]|\(?(?:\w|[0-9]+|[ivxlcdmIVXLCDM]+)[.)](?: |$)|\(?#)")


def escape(text: str) -> str:
    """Return the text on one line, with reST markup escaped."""
    return re.sub(r"([\\*`|_<>])", r"\\\1", " ".join(text.split()))


def paragraph(text: str) -> str:
    """Escape a text, including its start and its end, so that reST reads it as a plain paragraph."""
    line = re.sub(r"::$", r":\\:", escape(text))
    return f"\\{line}" if _BEGINS_MARKUP.match(line) else line


def _cell(field: Field) -> str:
    """Format a field as ``text (detail)``.

    An empty field becomes a backslash, so that reST still reads it as a list item. A sign that would start a list, such
    as ``-``, is escaped.
    """
    text = f"{field.text} ({field.detail})" if field.detail else field.text
    if field.tone == "unverified":
        text = field.tone
    return re.sub(r"^([-+•–—#.(0-9A-Za-z]+[.)]?)(?= |$)", _guarded, escape(text)) if text else "\\"


def _guarded(match: re.Match[str]) -> str:
    """Put a backslash before a first word that reST could read as a bullet or an enumerator (``-``, ``1.``, ``a)``)."""
    word = match[1]
    return f"\\{word}" if word in ("-", "+", "•", "–", "—") or word[-1] in ".)" else word


def _heading(text: str, line: str) -> str:
    title = paragraph(printable(text))
    return f"{title}\n{line * cell_len(title)}"
