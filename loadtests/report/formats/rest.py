"""The reST page that the documentation includes: plain directives, no raw HTML."""

from __future__ import annotations

import re

from loadtests.report.formats.templates import environment
from loadtests.report.view import Field, Page


def rst(page: Page) -> str:
    """The page's text; its figures are files in ``charts/`` beside it."""
    templates = environment()
    templates.filters.update(rst=escape, cell=_cell)
    templates.globals["heading"] = _heading
    text = templates.get_template("index.rst.j2").render(page=page)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def escape(text: str) -> str:
    """The text with what reST would read as markup taken literally, on one line."""
    return re.sub(r"([\\*`|_<>])", r"\\\1", " ".join(text.split()))


def _cell(field: Field) -> str:
    """``text (detail)``; an empty field must still be a list item, and a leading sign must not begin a list."""
    text = f"{field.text} ({field.detail})" if field.detail else field.text
    return re.sub(r"^([-+•–—#.(0-9A-Za-z]+[.)]?)(?= |$)", _guarded, escape(text)) if text else "\\"


def _guarded(match: re.Match[str]) -> str:
    """A first word that could be a bullet or an enumerator (``-``, ``1.``, ``a)``) gets a backslash in front."""
    word = match[1]
    return f"\\{word}" if word in ("-", "+", "•", "–", "—") or word[-1] in ".)" else word


def _heading(text: str, line: str) -> str:
    title = escape(text)
    return f"{title}\n{line * len(title)}"
