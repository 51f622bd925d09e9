"""``workload``: convert a recording to a workload file or a journey."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands.console import err, out, say, waiting


def command(
    kind: Annotated[
        str,
        typer.Argument(
            help="har: a workload file from a browser's HAR file; log: a workload file from an access log; journey: "
            "a Python journey from a HAR file, or from requests of the ONS's eq-survey-runner-benchmark."
        ),
    ],
    file: Annotated[Path, typer.Argument(help="Recording to convert.")],
    output: Annotated[Path | None, typer.Option(help="File to write. By default, the result is printed.")] = None,
    times: Annotated[bool, typer.Option("--keep-times", help="Keep the time of each request for a replay.")] = False,
    host: Annotated[
        list[str] | None,
        typer.Option(help="HAR: keep the requests to this host, the first host by default; may be repeated."),
    ] = None,
    keep_secrets: Annotated[
        bool,
        typer.Option("--keep-secrets", help="Keep possible secrets in a workload, which are replaced by default."),
    ] = False,
) -> None:
    """Convert a recording to a workload file or a journey."""
    with waiting(err, "reading the recording"):
        from loadtests.workload import convert

        options = convert.ConvertOptions(tuple(host or ()), keep_secrets, times)
        found = convert.converted(kind, file, options)
    if output is None:
        out.print(found.text, end="", markup=False, soft_wrap=True)
        return
    convert.write(found, output)
    for remark in found.remarks:
        say(remark)
