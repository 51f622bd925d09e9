"""The command line: which commands there are, and how each of them ends. ``python -m loadtests --help`` lists them."""

from __future__ import annotations

import signal

import typer

from loadtests.commands import (
    aa,
    advise,
    capacity,
    check,
    compare,
    doctor,
    engines,
    history,
    layers,
    load,
    profile,
    report,
    run,
    serve,
    simulate,
    workload,
)
from loadtests.commands import list as list_
from loadtests.commands.console import fail
from loadtests.errors import UserError

app = typer.Typer(
    name="python -m loadtests",
    help="Measures the ways of serving Django: WSGI and ASGI, server by server.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
# In the order of the help. What a command needs is imported when it runs: `--help` and a mistyped name answer at once.
for module in (
    run, aa, advise, load, workload, capacity, check, serve, list_, layers, engines, report, simulate, profile, doctor,
    compare, history,
):  # fmt: skip
    app.command(module.__name__.rpartition(".")[2])(module.command)


def main() -> None:
    """The way in. One clear line for what the user can put right; tracebacks are for defects."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _interrupt)
    try:
        app()
    except UserError as error:
        fail(str(error))


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
