"""``serve``: one setup until Ctrl-C."""

from __future__ import annotations

from loadtests.commands.console import say
from loadtests.commands.options import SetupName
from loadtests.commands.own_project import Own, with_own_project


@with_own_project
def command(setup: SetupName, *, own: Own) -> None:
    """Serve one setup until Ctrl-C."""
    from loadtests.serve import foreground

    foreground.serve(setup, say, own)
