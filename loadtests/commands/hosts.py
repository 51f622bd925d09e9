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
    with waiting(err):
        from loadtests.measure import host_options, servers_host

        machines = [where for _, where in host_options.machines(host)]
        servers_host.require_addresses(machines)
    for where in machines:
        with waiting(err) as told:
            findings = servers_host.prepare(where, told, python, venv)
        print_findings(findings)
        say(f"{where} is prepared; look at it: {called()} hosts check {host}")


def check(host: Where) -> None:
    """Say what will disturb a measurement with servers on that machine, and how to put it right; changes nothing."""
    with waiting(err):
        from loadtests.measure import host_options, servers_host
        from loadtests.measure.doctor import possible

        machines = host_options.machines(host)
        servers_host.require_addresses([where for _, where in machines])
    good = True
    for role, where in machines:
        with waiting(err) as told:
            findings = servers_host.examine(where, told, role)
        if len(machines) > 1:
            say(f"{where} ({role})")
        print_findings(findings)
        good = good and possible(findings)
    if not good:
        fail("nothing can be measured there before this is put right")
