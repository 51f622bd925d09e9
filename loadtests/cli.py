"""The command line: all commands, and how each of them ends."""

from __future__ import annotations

import signal
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from loadtests.commands import (
    advise,
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
    version,
    worker,
    workload,
)
from loadtests.commands import list as list_
from loadtests.commands.console import fail
from loadtests.errors import NO_ROOM, PROGRAM, UserError, called, shown


class _Flags:
    """Of a command whose flags are shown without a type: ``--quick <bool>`` asks for a value that there is none of."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options and arguments, ``--help`` included."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for one in params:
            if getattr(one, "is_flag", False):
                one.metavar = ""
        return params


class Command(_Flags, TyperCommand):
    """A command of its own."""


class Group(_Flags, TyperGroup):
    """What has commands."""


INTERRUPTED = 130  # 128 and SIGINT, as shells say it
app = typer.Typer(
    cls=Group,
    name="python -m loadtests",
    help="Measures the ways of serving Django, WSGI and ASGI. Start with `doctor` and `run first-look`. "
    "Environment variables such as WORKERS and PORT change how a setup is started (docs/setups.rst).",
    no_args_is_help=True,
    add_completion=called() == PROGRAM,  # shells complete the arguments of a program, and `python -m` is none
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
# In the order of the help. What a command needs is imported when it runs: `--help` and a mistyped name answer at once.
PANELS = {
    "Commands": (run, report, list_, doctor, check, advise, compare, load, capacity),
    "Advanced": (profile, serve, worker, workload, origin),
}
for panel, modules in PANELS.items():
    for module in modules:
        app.command(module.__name__.rpartition(".")[2], rich_help_panel=panel, cls=Command)(module.command)
machines = typer.Typer(cls=Group, help="Prepare and check other machines, over SSH.", no_args_is_help=True)
machines.command("prepare", cls=Command)(hosts.prepare)
machines.command("check", cls=Command)(hosts.check)
app.add_typer(machines, name="hosts", rich_help_panel="Advanced")


@app.callback()
def _general(
    version: Annotated[
        bool, typer.Option("--version", callback=version.show, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options before a command."""


def main() -> None:
    """The entry point. Errors that the user can correct are one line; tracebacks are for defects."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _interrupt)
    try:
        _require_no_empty_argument(sys.argv[1:])
        status = app(standalone_mode=False)  # in standalone mode it would print its errors itself, on four lines
        if status == INTERRUPTED:  # what it makes of Ctrl-C, without a word
            fail("interrupted", INTERRUPTED)
        sys.exit(status)
    except typer.TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its class is private, and it has printed the help
            sys.exit(error.exit_code)
        context = getattr(error, "ctx", None)
        path = context.command_path if context else called()
        fail(f"{error.format_message().rstrip('.')}; `{path} --help` says what there is", error.exit_code)
    except typer.Abort:  # what it makes of Ctrl-C at a question
        fail("interrupted", INTERRUPTED)
    except UserError as error:
        fail(str(error))
    except OSError as error:
        if error.errno not in NO_ROOM:  # a full disk is no defect
            raise
        if error.filename is None:  # printing the rest would fail as well
            sys.stdout = None
        fail(f"cannot write {error.filename or 'what is printed'}: {error.strerror}")


def _require_no_empty_argument(arguments: list[str]) -> None:
    """Raises UserError for one: as a path it would be this folder, and most likely it is a variable of a shell that was
    not set. A body and a message may be empty."""
    for before, argument in zip([called(), *arguments], arguments, strict=False):
        option, equals, value = argument.partition("=") if argument.startswith("--") else (before, "=", argument)
        if equals and not value and not option.startswith(("--body", "--ws-")):
            raise UserError(f"what stands after {shown(option)} is empty; give it a value, or leave it out")


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
