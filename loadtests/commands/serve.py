"""``serve``: run one setup until Ctrl-C."""

from __future__ import annotations

from loadtests.commands.console import out, say, waiting
from loadtests.commands.options import Own, SetupName, Variants, with_own_project


@with_own_project
def command(setup: SetupName, variant: Variants = None, *, own: Own) -> None:
    """Run one setup until Ctrl-C, on http://127.0.0.1:8000/ or the address in BIND and PORT."""
    with waiting(out):
        from loadtests.serve import foreground

    foreground.serve(setup, say, own, variant or [])
