"""``capacity``: find the highest rate at which a URL meets an objective."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Annotated

import typer

from loadtests.commands.console import data, err, fail, look_first, say, say_json, waiting
from loadtests.commands.options import AllowRemote, Anyway, AsJson, MessageSize
from loadtests.formatting import per_second, plural

if TYPE_CHECKING:
    from loadtests.measure.capacity import Probed
    from loadtests.measure.searches.capacity import Probe
    from loadtests.measure.searches.judge import Outcome
    from loadtests.records import Second


def command(
    url: Annotated[str, typer.Argument(help="URL, such as http://127.0.0.1:8000/ or ws://...")],
    header: Annotated[list[str] | None, typer.Option(help="Header: 'Host: example.com'; may be repeated.")] = None,
    objective: Annotated[str, typer.Option(help="Objective, such as 'p99<50ms, errors<0.1%'.")] = "p99<50ms",
    start_rate: Annotated[
        float, typer.Option(help="First rate to try, in requests per second, or over ws:// in messages per second.")
    ] = 100.0,
    max_rate: Annotated[float, typer.Option(help="Highest rate to try.")] = 100_000.0,
    probe_time: Annotated[str, typer.Option(help="Duration of the first probe at a rate.")] = "2s",
    confirm_time: Annotated[str, typer.Option(help="Duration of the probe that confirms the rate.")] = "30s",
    arrivals: Annotated[str, typer.Option(help="Spacing of requests: random or even.")] = "random",
    connections: Annotated[
        int | None, typer.Option(help="Maximum number of connections. Over ws://, the exact number, 50 by default.")
    ] = None,
    size: MessageSize = None,
    max_time: Annotated[str | None, typer.Option(help="Time limit of the search, such as 5m; none by default.")] = None,
    allow_remote: AllowRemote = False,
    anyway: Anyway = False,
    as_json: AsJson = False,
) -> None:
    """Find the highest rate at which a URL meets an objective, such as p99<50ms."""
    with waiting(err):
        from loadtests.commands.progress import answered
        from loadtests.measure import capacity
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
        search = urls.UrlSearchOptions(load, objective, max_rate, probe_time, confirm_time, max_time).search()
    look_first(err, anyway)
    with waiting(err, "searching") as announce:
        lines = _ProbeLines(search.plan.unit)

        def on_second(second: Second) -> None:
            if err.is_terminal:
                announce(f"searching: {answered(second)}")

        try:
            found = urls.find_capacity(search, lines.add, on_second)
        finally:
            lines.end()
    result = f"{found.capacity.sentence} ({found.objective})"
    if (enough_s := capacity.enough_s(found, search.plan)) is not None:
        result += f"; try --max-time {math.ceil(enough_s / 60)}m"
    if as_json:
        say_json(dataclasses.asdict(found.record()))
    if found.capacity.rate is None:  # exit with an error, so that scripts don't have to parse the output
        fail(result)
    if not as_json:
        say(result)


class _ProbeLines:
    """Print a line on standard error for each probe. Repeated probes with the same outcome share a line."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._last: tuple[Probe, Outcome] | None = None
        self._again = 0

    def add(self, probed: Probed) -> None:
        """Print a probe and its outcome, unless both are the same as in the last line."""
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
        """Print how often the last probe was repeated."""
        if self._again:
            err.print(f"{'':>9} the same outcome in {plural(self._again, 'more probe')}")
        self._again = 0
