"""``layers``: the channel layers compared."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from loadtests.commands.console import err, out, say_json, waiting
from loadtests.commands.options import AsJson
from loadtests.errors import require_within
from loadtests.formatting import plural
from loadtests.report.terminal_tables import grid, print_grid

if TYPE_CHECKING:
    from loadtests.measure.layers.groups import LayerDeliveries
    from loadtests.measure.layers.rounds import LayersReport

FEWEST, MOST = 100, 10_000_000  # deliveries


def command(
    as_json: AsJson = False,
    deliveries: Annotated[
        int, typer.Option(help="Count this many deliveries to a group over each layer; 0 for round trips.")
    ] = 0,
) -> None:
    """Compare the channel layers Redis and IPC, next to bare sockets, pipes and memory.

    Round trips between two processes, or deliveries to a group (--deliveries).
    """
    with waiting(err):
        from loadtests.commands.progress import steps
        from loadtests.measure.layers import groups, round_trips

    if deliveries:
        require_within("--deliveries", deliveries, FEWEST, MOST)
        with steps(err) as progress:
            found = groups.deliveries(deliveries, progress=progress)
        say_json([asdict(one) for one in found]) if as_json else print_deliveries(found)
        return
    with steps(err) as progress:
        report = round_trips.measure(progress=progress)
    say_json(report.to_dict()) if as_json else print_layers(report)


def print_layers(report: LayersReport) -> None:
    """Prints a row per layer, and the IPC layer's ratio to Redis."""
    from loadtests.measure.layers.rounds import MEDIAN_BAR, RATE_BAR

    cores = ", ".join(map(str, report.cores))
    table = grid(("layer", "p50, µs", "p99, µs", "round trips/s", "CPU, µs", "delivered"), right=range(1, 6))
    for layer in report.layers:
        p50, p99, rate, cpu = map(layer.median, ("p50_us", "p99_us", "per_second", "cpu_us"))
        delivered = f"{layer.delivered:,} of {layer.sent:,}"
        table.add_row(layer.name, f"{p50:,.1f}", f"{p99:,.1f}", f"{rate:,.0f}", f"{cpu:,.1f}", delivered)
    print_grid(
        out,
        table,
        f"Round trips of {report.body_bytes:,} bytes between two processes, "
        f"{'core' if len(report.cores) == 1 else 'cores'} {cores}",
        f"Medians of {plural(len(report.layers[0].rounds), 'round')} of {report.duration_s:g} s one at a time "
        f"and {report.duration_s:g} s with {report.in_flight} under way; CPU time of all processes, with these.",
    )
    out.print(
        f"channels_ipc to channels_redis, round by round: {report.rate_ratio:.1f} times the round trips per second "
        f"(bar: {RATE_BAR:g}), {report.median_ratio:.3f} of the median round trip (bar: {MEDIAN_BAR:g}), "
        f"{report.cpu_ratio:.3f} of the CPU time"
    )


def print_deliveries(found: list[LayerDeliveries]) -> None:
    """Prints the counts of each layer, and those with a receiver that reads nothing for a while."""
    from loadtests.measure.layers.groups import FROZEN_MESSAGES, FROZEN_PER_S, PROCESSES, RECEIVERS, total

    table = grid(("layer", "deliveries", "missing", "duplicates", "out of order"), right=range(1, 5))
    for one in found:
        if one.paced:
            sums = total(one.paced)
            counts = (sums.expected, sums.missing, sums.duplicates, sums.reordered)
            table.add_row(one.name, *(f"{count:,}" for count in counts))
    receivers = f"{PROCESSES * RECEIVERS} receivers in {PROCESSES} processes"
    print_grid(out, table, f"To a group of {receivers}", "The publisher waits until all have the last ten messages.")
    out.print()
    table = grid(("layer", "frozen one got", "which", "others there lost", "others elsewhere lost"), right=(1, 3, 4))
    for one in found:
        got, lost = one.frozen, [total(others) for others in (one.same_process, one.other_process)]
        table.add_row(
            one.name,
            f"{got.received:,} of {got.expected:,}",
            f"{got.first:,} to {got.last:,}" if got.received else "-",
            *(f"{others.missing:,} of {others.expected:,}" if others.expected else "-" for others in lost),
        )
    print_grid(
        out,
        table,
        "With one receiver that reads nothing until all is published",
        f"{FROZEN_MESSAGES:,} messages, {FROZEN_PER_S:g} a second; capacity 100, which is the default.",
    )
