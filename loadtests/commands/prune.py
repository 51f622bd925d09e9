"""``results prune``: old run folders, removed."""

from __future__ import annotations

import datetime
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from loadtests.commands.console import err, fail, out, say
from loadtests.commands.waiting import waiting
from loadtests.errors import UserError
from loadtests.formatting import plural
from loadtests.report.terminal_tables import grid, print_grid

if TYPE_CHECKING:
    from loadtests.records.run.own import OwnFolder


def command(
    keep: Annotated[int | None, typer.Option(help="Keep this many of the newest.", min=0)] = None,
    older_than: Annotated[
        float | None, typer.Option(help="Remove only what was written this many days ago or earlier.", min=0)
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False,
) -> None:
    """Remove old run and profile folders of your own in results/, after asking.

    What is named reference-..., what git tracks and a run that may be under way are never removed.
    """
    if keep is None and older_than is None:
        raise UserError("say what is to stay: the newest, such as --keep 5, or the youngest, such as --older-than 30")
    with waiting(err, "looking"):
        from loadtests import files
        from loadtests.records.run.own import to_prune

        found = to_prune(files.RESULTS, keep or 0, older_than or 0.0)
    if not found:
        say("nothing to remove")
        return
    _print(found)
    if not yes and not _agreed(found):
        fail("nothing was removed")
    for one in found:
        one.remove()
    say(f"removed {plural(len(found), 'folder')}")


def _print(found: list[OwnFolder]) -> None:
    table = grid(("folder", "last written", "MB"), right=(2,), whole=(0,))
    for one in found:
        when = datetime.datetime.fromtimestamp(one.written).strftime("%Y-%m-%d %H:%M")
        table.add_row(Text(one.path.name), when, f"{one.size_bytes / 1e6:,.1f}")
    print_grid(out, table)


def _agreed(found: list[OwnFolder]) -> bool:
    """What the person answers; no, where nobody can be asked."""
    if not sys.stdin.isatty():
        raise UserError("nothing was removed, for there is nobody to ask; --yes removes without asking")
    return typer.confirm(f"Remove {plural(len(found), 'folder')}?")
