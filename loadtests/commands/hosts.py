"""``hosts prepare`` and ``hosts check``: another machine, for the servers."""

from __future__ import annotations

from typing import Annotated

import typer

from loadtests.commands.console import err, fail, say
from loadtests.commands.doctor import print_findings
from loadtests.commands.waiting import waiting
from loadtests.errors import called

Where = Annotated[str, typer.Argument(help="ssh://user@host:port, or a hosts file (TOML) for all of its machines.")]


def prepare(
    host: Where,
    python: Annotated[
        str | None, typer.Option(help="The Python there to make the virtual environment with, if not python3.")
    ] = None,
    venv: Annotated[
        str | None, typer.Option(help="A virtual environment there to use as it is, instead of making one.")
    ] = None,
) -> None:
    """Bring this project to another machine as it is here, and set it up there. That allows load to be sent to it."""
    with waiting(err) as told:
        from loadtests.measure import other_host, places

        findings = [(one, other_host.prepare(one, told, python, venv)) for one in places.addresses(host)]
    for one, found in findings:
        print_findings(found)
        say(f"{one} is prepared; look at it: {called()} hosts check {one}")


def check(host: Where) -> None:
    """Say what will disturb a measurement with servers on that machine, and how to put it right; changes nothing."""
    with waiting(err) as told:
        from loadtests.measure import other_host, places
        from loadtests.measure.doctor import possible

        findings = [(one, other_host.examine(one, told)) for one in places.addresses(host)]
    for one, found in findings:
        if len(findings) > 1:
            say(one)
        print_findings(found)
    if not all(possible(found) for _, found in findings):
        fail("nothing can be measured there before this is put right")
