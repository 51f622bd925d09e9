"""``check``: start the setups one after the other and compare their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from loadtests.commands.console import data, fail, out, say, waiting
from loadtests.commands.options import Login, Own, Paths, Variants, WorkloadFile, with_login, with_own_websockets
from loadtests.formatting import plural

if TYPE_CHECKING:
    from loadtests.measure.check import Check

# Django's default logging prints the traceback only if DEBUG is on.
NO_LOG = ": its logs are empty. Set DEBUG or add a console handler to LOGGING to log the error's traceback"


@with_login
@with_own_websockets
def command(
    setups: Annotated[
        list[str] | None,
        typer.Argument(help="Names of setups, such as a b or a,b. All setups by default."),
    ] = None,
    path: Paths = None,
    workload: WorkloadFile = None,
    variant: Variants = None,
    *,
    own: Own,
    login: Login,
) -> None:
    """Start the setups one after the other and compare their answers."""
    with waiting(out) as announce:
        from loadtests.hosts import require_port
        from loadtests.measure.check import check
        from loadtests.plan.kinds.requests import named
        from loadtests.serve.sample_requests import REQUESTS
        from loadtests.setups import find
        from loadtests.setups.application import project
        from loadtests.setups.variants import parse_options
        from loadtests.workload import Request

        require_port()  # before the project loads, which can take minutes
        asked = named(path or [], workload)
        setups = [name for text in setups or [] for name in text.split(",") if name]
        chosen = find(setups, parse_options(variant or []))
        requests = asked or ((Request("GET /"),) if own else REQUESTS)
        served = project.chosen(own, chosen, announce, requests=requests)
    for remark in served.remarks:
        say(f"note: {remark}")
    checked = check(chosen, setups, lambda doing: say(f"{doing} ..."), served.application, requests, login)
    print_check(checked)
    if checked.compared_nothing:
        request, status, hint = checked.unexpected[0]
        fail(
            f"no view was compared, because {request.method} {request.path} answered {status} instead of "
            f"{request.status}{hint or '. Name other pages with --path'}"
        )
    if not checked.good:
        fail("a setup failed or answered differently. Read the lines above")


def print_check(checked: Check) -> None:
    """Print the failures and differences, and then the verdict."""
    for name, obstacle in checked.skipped.items():
        _line(name, "yellow", f" was skipped: {obstacle}")
    for name, number in checked.not_asked.items():
        _line(name, "yellow", f" did not receive {plural(number, 'request')}, which it can't answer")
    for request, status, hint in checked.unexpected:
        say(
            f"note: the answer to {request.method} {request.path} has status {status}, but `run` requires "
            f"{request.status}{hint}"
        )
    if checked.varying:
        pages = ", ".join(f"{request.method} {request.path}" for request in checked.varying)
        say(f"note: the bodies of {pages} vary between requests or restarts and are not compared")
    for name, settings in checked.settings.items():
        say(f"note: the settings of {name} differ: {'; '.join(settings)}")
    for setup, error in checked.failed:
        _line(setup.name, "bold red", f": {error}\n{error.log}")
    for request, given in checked.errors:
        _line(checked.compared[-1].name, "bold red", f": {request.method} {request.path}: {given}")
    for difference in checked.differences:
        request = difference.request
        _line(difference.setup, "bold red", f": {request.method} {request.path}")
        say(f"    {checked.compared[0].name} answered {difference.expected}")
        say(f"    {difference.setup} answered {difference.given}")
    for name, log in checked.logs.items():
        _line(name, "bold red", f": the end of its logs:\n{log}" if log else NO_LOG)
    for name, (cases, broken) in checked.websocket_cases.items():
        for sentence in broken:
            _line(name, "bold red", f": {sentence}")
        _line(name, "bold", f": {plural(cases, 'WebSocket case')}: {plural(len(broken), 'failure')}")
    number = len(checked.compared)
    if (number or not (checked.websocket_cases or checked.failed)) and not checked.errors:
        out.print(
            f"{plural(len(checked.requests), 'request')} to {'each of ' if number > 1 else ''}"
            f"{plural(number, 'setup')}: "
            f"{plural(len(checked.differences), 'difference')}"
        )


def _line(name: str, style: str, rest: str) -> None:
    """Print a line that starts with a setup's name in color."""
    out.print(Text.assemble(data(name, style), data(rest)), soft_wrap=True)
