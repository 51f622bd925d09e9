"""``capacity``: the highest rate at which a URL answers within an objective."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated

import typer

from loadtests.commands.console import data, err, fail, say, say_json
from loadtests.commands.options import AllowRemote, AsJson
from loadtests.commands.waiting import waiting
from loadtests.formatting import per_second, plural

if TYPE_CHECKING:
    from loadtests.measure.capacity import Probed
    from loadtests.measure.searches.capacity import Probe
    from loadtests.measure.searches.judge import Outcome


def command(
    url: Annotated[str, typer.Argument(help="Where to send requests, such as http://127.0.0.1:8000/ or ws://...")],
    header: Annotated[list[str] | None, typer.Option(help="A header, 'Host: example.com'; may be repeated.")] = None,
    objective: Annotated[str, typer.Option(help="What must hold, such as 'p99<50ms, errors<0.1%'.")] = "p99<50ms",
    start_rate: Annotated[
        float, typer.Option(help="The first rate, in requests (over ws://, messages) per second.")
    ] = 100.0,
    max_rate: Annotated[float, typer.Option(help="The highest rate to try.")] = 100_000.0,
    probe: Annotated[str, typer.Option(help="How long a short probe takes.")] = "5s",
    confirm: Annotated[str, typer.Option(help="How long the confirming probe takes.")] = "30s",
    arrivals: Annotated[
        str, typer.Option(help="When requests are due: at random moments, or at even ones.")
    ] = "random",
    connections: Annotated[
        int | None, typer.Option(help="How many connections at the most; over ws:// so many are held, 50 by default.")
    ] = None,
    size: Annotated[int | None, typer.Option(help="Bytes of a message over ws://; 64 by default.")] = None,
    max_time: Annotated[
        str | None, typer.Option(help="How long the whole search may take: 5m; by default as long as it needs.")
    ] = None,
    allow_remote: AllowRemote = False,
    as_json: AsJson = False,
) -> None:
    """Find the highest rate at which a URL answers within an objective."""
    with waiting(err, "searching"):
        from loadtests.measure import url as urls

        load = urls.UrlLoad(
            url,
            urls.UrlRequests(headers=header or ()),
            rate=start_rate,
            connections=connections,
            allow_remote=allow_remote,
            arrivals=arrivals,
            size=size,
        )
        search = urls.UrlSearchOptions(load, objective, max_rate, probe, confirm, max_time).search()
        lines = _ProbeLines(search.plan.unit)
        try:
            found = urls.find_capacity(search, lines.add)
        finally:
            lines.end()
    result = f"{found.capacity.sentence} ({found.objective})"
    if as_json:
        say_json(dataclasses.asdict(found.record()))
    if found.capacity.rate is None:  # what was asked for was not found, and a script need not read why
        fail(result)
    if not as_json:
        say(result)


class _ProbeLines:
    """A line for each probe, beside the result: it is not part of it. What was found again and again has one line, and
    another that says how often. ``unit`` is what the rates are in."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._last: tuple[Probe, Outcome] | None = None
        self._again = 0

    def add(self, probed: Probed) -> None:
        """Prints a probe that was judged."""
        probe, judgement = probed.probe, probed.judgement
        if (probe, judgement.outcome) == self._last:
            self._again += 1
            return
        self.end()
        self._last = probe, judgement.outcome
        confirming = ", to confirm" if probe.purpose.value == "confirm" else ""
        line = (
            f"{per_second(probe.rate):>9} {self._unit} for {probe.duration_s:g} s{confirming}: "
            f"{judgement.outcome.value} ({judgement.why})"
        )
        err.print(data(line), soft_wrap=True)

    def end(self) -> None:
        """Says how often the last one was found again."""
        if self._again:
            err.print(f"{'':>9} the same in {plural(self._again, 'more probe')}")
        self._again = 0
