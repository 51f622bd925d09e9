"""``capacity``: the highest rate at which a URL answers within an objective."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from loadtests.commands.console import err, out, say_json
from loadtests.commands.options import AllowRemote, AsJson

if TYPE_CHECKING:
    from loadtests.measure.capacity import Probed


def command(
    url: Annotated[str, typer.Argument(help="Where to send requests, such as http://127.0.0.1:8000/")],
    header: Annotated[list[str] | None, typer.Option(help="A header, 'Host: example.com'; may be repeated.")] = None,
    objective: Annotated[str, typer.Option(help="What must hold, such as 'p99<50ms, errors<0.1%'.")] = "p99<50ms",
    start_rate: Annotated[float, typer.Option(help="The first rate, in requests per second.")] = 100.0,
    max_rate: Annotated[float, typer.Option(help="The highest rate to try.")] = 100_000.0,
    probe: Annotated[str, typer.Option(help="How long a short probe takes.")] = "5s",
    confirm: Annotated[str, typer.Option(help="How long the confirming probe takes.")] = "30s",
    allow_remote: AllowRemote = False,
    as_json: AsJson = False,
) -> None:
    """Find the highest rate at which a URL answers within an objective."""
    from loadtests.measure import url as urls

    search = urls.search(url, header or (), objective, start_rate, max_rate, probe, confirm, allow_remote)
    found = urls.find_capacity(search, _print_probe)
    if as_json:
        say_json(dataclasses.asdict(found.record()))
    else:
        out.print(f"{found.capacity.sentence} ({found.objective})", soft_wrap=True)


def _print_probe(probed: Probed) -> None:
    """A line for each probe, beside the result: it is not part of it."""
    judgement = probed.judgement
    err.print(
        f"{probed.probe.rate:>9,.0f} requests/s for {probed.probe.duration_s:g} s: "
        f"{judgement.outcome.value} ({judgement.why})",
        soft_wrap=True,
    )
