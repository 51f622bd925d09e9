"""``hosts prepare`` and ``hosts check``: prepare and check other machines."""

from __future__ import annotations

from typing import Annotated

import typer

from loadtests.commands.console import err, fail, say, waiting
from loadtests.commands.doctor import print_findings
from loadtests.errors import called

Where = Annotated[str, typer.Argument(help="ssh://user@host:port, or a hosts file (TOML) for all machines in it.")]


def prepare(
    host: Where,
    venv: Annotated[
        str | None, typer.Option(help="Existing virtual environment on the other machine, to use instead of a new one.")
    ] = None,
) -> None:
    """Copy this project to another machine and set it up.

    Runs only use machines that were prepared with this command.
    """
    with waiting(err):
        from loadtests.measure import host_options, servers_host

        machines = [where for _, where in host_options.machines(host)]
        servers_host.require_addresses(machines)
    for where in machines:
        with waiting(err) as announce:
            findings = servers_host.prepare(where, announce, venv)
        print_findings(findings)
        say(f"{where} is prepared; check it with: {called()} hosts check {host}")


def check(host: Where) -> None:
    """List problems of another machine that can distort a measurement.

    Each problem has a remedy. The command doesn't change anything.
    """
    with waiting(err):
        from loadtests.measure import host_options, servers_host
        from loadtests.observe.doctor import possible

        machines = host_options.machines(host)
        servers_host.require_addresses([where for _, where in machines])
    good = True
    for role, where in machines:
        with waiting(err) as announce:
            findings = servers_host.examine(where, announce, role)
        if len(machines) > 1:
            say(f"{where} ({role})")
        print_findings(findings)
        good = good and possible(findings)
    if not good:
        fail("fix the errors above before you measure on this host")
