"""``--version``: print the release and its revision."""

from __future__ import annotations

import typer

from loadtests.commands.console import say


def show(requested: bool) -> None:
    """Print the version if requested, and exit."""
    if requested:
        say(text())
        raise typer.Exit


def text() -> str:
    """Describe the version, such as ``django-serving-benchmark 0.1.0, revision 0123456789ab with changes``.

    If the revision isn't known, the text doesn't contain a revision.
    """
    import tomllib

    from loadtests.files import ROOT
    from loadtests.observe import machine

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    git = machine.git()
    revision = f", revision {git['revision'][:12]}" if git["revision"] else ""
    return f"{project['name']} {project['version']}{revision}{' with changes' if git['dirty'] else ''}"
