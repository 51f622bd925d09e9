"""``workload``: a recording made into a workload file, or into a journey."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from loadtests.commands.console import err, out, say
from loadtests.commands.waiting import waiting


def command(
    kind: Annotated[
        str,
        typer.Argument(
            help="har: a HAR file of a browser. log: an access log. journey: a HAR file, or ONS' requests, made into a "
            "journey of Python."
        ),
    ],
    file: Annotated[Path, typer.Argument(help="The recording.")],
    output: Annotated[Path | None, typer.Option(help="The file to write, instead of printing it.")] = None,
    times: Annotated[bool, typer.Option("--times", help="Keep when each request was sent, to replay it.")] = False,
    most: Annotated[
        int, typer.Option(help="How many different requests to keep: those sent most often.", min=1, max=500)
    ] = 100,
    host: Annotated[
        str | None, typer.Option(help="Of a HAR file: the host whose requests are kept; by default the first.")
    ] = None,
    keep_cookies: Annotated[
        bool, typer.Option("--keep-cookies", help="Of a HAR file: keep the cookies and other headers of a login.")
    ] = False,
    keep_header: Annotated[
        list[str] | None, typer.Option(help="Of a HAR file: a header to keep, secret or not; may be repeated.")
    ] = None,
    keep_field: Annotated[
        list[str] | None,
        typer.Option(help="A query parameter, or a field of a body, to keep as it was; may be repeated."),
    ] = None,
    keep_paths: Annotated[bool, typer.Option("--keep-paths", help="Keep random-looking parts of paths.")] = False,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Of a log: leave out lines that cannot be read as requests.")
    ] = False,
) -> None:
    """Make a workload file, or a journey, of what was recorded by a browser or in an access log."""
    with waiting(err, "reading the recording"):
        from loadtests.workload import convert
        from loadtests.workload.redaction import Keep

        keep = Keep(tuple(keep_header or ()), tuple(keep_field or ()), keep_cookies, keep_paths)
        found = convert.converted(kind, file, host, keep, skip_unknown, times, most)
    if output is None:
        out.print(found.text, end="", markup=False, soft_wrap=True)
        return
    convert.write(found, output)
    for remark in found.remarks:
        say(remark)
