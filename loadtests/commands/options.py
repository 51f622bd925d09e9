"""Options that several commands take, and which of its options a command was given."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands import completion

Minutes = Annotated[float | None, typer.Option(help="How long it may take: as many blocks as fit, two at the least.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Price = Annotated[float | None, typer.Option(help="The price of a core-hour, for the cost of a million requests.")]
Paths = Annotated[list[str] | None, typer.Option("--path", help="A path to ask for; may be repeated.")]
WorkloadFile = Annotated[Path | None, typer.Option(help="A workload file with the requests to send.")]
AllowRemote = Annotated[bool, typer.Option("--allow-remote", help="Send load to a host other than this machine.")]
OutputFolder = Annotated[Path | None, typer.Option(help="The run folder to make.")]
Anyway = Annotated[
    bool, typer.Option("--anyway", help="Go on to the end, also where the machine spoils one trial after another.")
]
SetupName = Annotated[str, typer.Argument(help="A setup's name.", autocompletion=completion.setups)]


def given(context: typer.Context) -> list[str]:
    """What stands on the command line, whatever its value: the names of options (``--seed``) and of arguments
    (``the study``)."""
    names = []
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            argument = parameter.param_type_name == "argument"
            names.append(f"the {parameter.name}" if argument else parameter.opts[0])
    return names
