"""``capacity``: find the highest rate within an objective for a URL."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loadtests.commands.console import data, err, fail, look_first, say, say_json, waiting
from loadtests.commands.options import AllowRemote, Anyway, AsJson, Url, with_requests
from loadtests.formatting import per_second

if TYPE_CHECKING:
    from loadtests.records import ProbeRecord, Second


@with_requests
def command(
    url: Url,
    objective: Annotated[str, typer.Option(help="Objective, such as 'p99<50ms, errors<0.1%'.")] = "p99<50ms",
    start_rate: Annotated[float, typer.Option(help="First rate to try, in requests per second.")] = 100.0,
    max_rate: Annotated[float, typer.Option(help="Highest rate to try.")] = 100_000.0,
    probe_time: Annotated[str, typer.Option(help="Duration of the first probe at a rate.")] = "2s",
    confirm_time: Annotated[str, typer.Option(help="Duration of the probe that confirms the rate.")] = "30s",
    allow_remote: AllowRemote = False,
    anyway: Anyway = False,
    as_json: AsJson = False,
    *,
    requests: dict[str, Any] | None,
) -> None:
    """Find the highest rate at which a URL meets an objective, such as p99<50ms."""
    with waiting(err):
        from loadtests.commands.progress import answered
        from loadtests.measure import url as urls

        options = urls.UrlOptions(url, allow_remote=allow_remote, **(requests or {}))
        search = urls.search(options, objective, start_rate, max_rate, probe_time, confirm_time)
    look_first(err, anyway)
    with waiting(err, "searching") as announce:

        def on_probe(probe: ProbeRecord) -> None:
            err.print(data(_line(probe, search.plan.unit)), soft_wrap=True)

        def on_second(second: Second) -> None:
            if err.is_terminal:
                announce(f"searching: {answered(second)}")

        found = urls.find_capacity(search, on_probe, on_second)
    result = f"{found.sentence} ({found.objective})"
    if as_json:
        say_json(dataclasses.asdict(found))
    if found.rate is None:  # exit with an error, so that scripts don't have to parse the output
        fail(result)
    if not as_json:
        say(result)


def _line(probe: ProbeRecord, unit: str) -> str:
    """Describe a probe and its outcome."""
    confirming = ", to confirm" if probe.purpose == "confirm" else ""
    rate = f"{per_second(probe.rate):>9} {unit} for {probe.duration_s:g} s{confirming}"
    return f"{rate}: {probe.outcome} ({probe.why})"
