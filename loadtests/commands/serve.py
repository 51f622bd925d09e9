"""``serve``: one setup until Ctrl-C."""

from __future__ import annotations

from loadtests.commands.console import out, say
from loadtests.commands.options import SetupName
from loadtests.commands.own_project import Own, with_own_project
from loadtests.commands.waiting import waiting


@with_own_project
def command(setup: SetupName, *, own: Own) -> None:
    """Serve one setup until Ctrl-C."""
    with waiting(out):
        from loadtests.serve import foreground

    foreground.serve(setup, say, own)
