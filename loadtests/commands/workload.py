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
    max_requests: Annotated[
        int,
        typer.Option(help="Number of different requests to keep. The most frequent requests are kept.", min=1, max=500),
    ] = 100,
    host: Annotated[
        list[str] | None,
        typer.Option(help="HAR: keep the requests to this host, the first host by default; may be repeated."),
    ] = None,
    keep_cookies: Annotated[
        bool,
        typer.Option("--keep-cookies", help="HAR: keep cookies and other login headers, which are removed by default."),
    ] = False,
    keep_header: Annotated[
        list[str] | None, typer.Option(help="HAR: header to keep, even if secret; may be repeated.")
    ] = None,
    keep_field: Annotated[
        list[str] | None, typer.Option(help="Query parameter or body field to keep, even if secret; may be repeated.")
    ] = None,
    keep_paths: Annotated[
        bool, typer.Option("--keep-paths", help="Keep random-looking parts of paths, which are replaced by default.")
    ] = False,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Log: skip lines in an unknown format instead of stopping.")
    ] = False,
) -> None:
    """Convert a recording to a workload file or a journey."""
    with waiting(err, "reading the recording"):
        from loadtests.workload import convert
        from loadtests.workload.redaction import Keep

        keep = Keep(tuple(keep_header or ()), tuple(keep_field or ()), keep_cookies, keep_paths)
        options = convert.ConvertOptions(tuple(host or ()), keep, skip_unknown, times, max_requests)
        found = convert.converted(kind, file, options)
    if output is None:
        out.print(found.text, end="", markup=False, soft_wrap=True)
        return
    convert.write(found, output)
    for remark in found.remarks:
        say(remark)
