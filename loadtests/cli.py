"""Define the command line with all its commands, and turn errors into exit statuses."""

from __future__ import annotations

import signal
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from loadtests.commands import (
    capacity,
    check,
    compare,
    doctor,
    hosts,
    load,
    origin,
    profile,
    report,
    run,
    serve,
    token,
    version,
    worker,
    workload,
)
from loadtests.commands import list as list_
from loadtests.commands.console import fail
from loadtests.errors import NO_ROOM, PROGRAMS, UserError, called


class _Flags:
    """Show flags without a type in the help.

    Typer would print ``--quick <bool>``, which looks as if the flag needed a value.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in params:
            if getattr(one, "is_flag", False):
                one.metavar = ""
        return params


class Command(_Flags, TyperCommand):
    """A single command."""


class Group(_Flags, TyperGroup):
    """A group of commands whose help shows flags without a type."""


INTERRUPTED = 130  # 128 plus the number of SIGINT, as in shells
app = typer.Typer(
    cls=Group,
    name="python -m loadtests",
    help="Compare ways to serve Django over WSGI and ASGI. Start with `doctor` and `run first-look`. "
    "Environment variables such as WORKERS and PORT configure the setups (docs/setups.rst).",
    no_args_is_help=True,
    add_completion=called() in PROGRAMS,  # shells can complete `loadtests`, but not `python -m loadtests`
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
# Commands in the order of the help. They import modules when they run, so that `--help` and errors appear immediately.
PANELS = {
    "Commands": (run, report, list_, doctor, check, compare, load, capacity),
    "Advanced": (profile, serve, worker, token, workload, origin),
}
for panel, modules in PANELS.items():
    for module in modules:
        app.command(module.__name__.rpartition(".")[2], rich_help_panel=panel, cls=Command)(module.command)
machines = typer.Typer(cls=Group, help="Prepare and check other machines over SSH.", no_args_is_help=True)
machines.command("prepare", cls=Command)(hosts.prepare)
machines.command("check", cls=Command)(hosts.check)
app.add_typer(machines, name="hosts", rich_help_panel="Advanced")


@app.callback()
def _general(
    version: Annotated[
        bool, typer.Option("--version", callback=version.show, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Define the option that can replace a command."""


def main() -> None:
    """Run the command line. Print one line for a user's error, and a traceback only for a defect."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, _interrupt)
    try:
        status = app(standalone_mode=False)  # In standalone mode, Typer itself prints errors, on four lines.
        if status == INTERRUPTED:  # Typer returns this status after Ctrl-C, but doesn't print a message.
            fail("interrupted", INTERRUPTED)
        sys.exit(status)
    except typer.TyperException as error:
        # Typer has already printed the help. The check compares the name, because the class of this error is private.
        if type(error).__name__ == "NoArgsIsHelpError":
            sys.exit(error.exit_code)
        context = getattr(error, "ctx", None)
        path = context.command_path if context else called()
        fail(f"{error.format_message().rstrip('.')}; `{path} --help` shows the usage", error.exit_code)
    except typer.Abort:  # Typer raises this error for Ctrl-C at a prompt
        fail("interrupted", INTERRUPTED)
    except UserError as error:
        fail(str(error))
    except OSError as error:
        if error.errno not in NO_ROOM:  # a full disk isn't a defect
            raise
        if error.filename is None:  # printing the rest of the output would also fail
            sys.stdout = None
        fail(f"cannot write {error.filename or 'the output'}: {error.strerror}")


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
