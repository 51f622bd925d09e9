"""``layers``: the channel layers compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadtests.commands.console import err, out, say_json
from loadtests.commands.options import AsJson
from loadtests.commands.waiting import waiting
from loadtests.grid import grid, print_grid
from loadtests.words import plural

if TYPE_CHECKING:
    from loadtests.layers import LayersReport


def command(as_json: AsJson = False) -> None:
    """Compare the channel layers: round trips between two processes, Redis, IPC and a bare Unix socket."""
    with waiting(err):
        from loadtests import layers
        from loadtests.commands.progress import steps

    with steps(err) as progress:
        report = layers.measure(progress=progress)
    say_json(report.to_dict()) if as_json else print_layers(report)


def print_layers(report: LayersReport) -> None:
    """Prints a row per layer and, below, how the IPC layer compares with Redis."""
    from loadtests.layers.rounds import MEDIAN_BAR, RATE_BAR

    cores = ", ".join(map(str, report.cores))
    table = grid(("layer", "p50, µs", "p99, µs", "round trips/s", "delivered"), right=range(1, 5))
    for layer in report.layers:
        table.add_row(
            layer.name,
            f"{layer.p50_us:,.1f}",
            f"{layer.p99_us:,.1f}",
            f"{layer.per_second:,.0f}",
            f"{layer.delivered:,} of {layer.sent:,}",
        )
    print_grid(
        out,
        table,
        f"Round trips of {report.body_bytes:,} bytes between two processes, "
        f"{'core' if len(report.cores) == 1 else 'cores'} {cores}",
        f"Medians of {plural(len(report.layers[0].rounds), 'round')} of {report.duration_s:g} s one at a time "
        f"and {report.duration_s:g} s with {report.in_flight} under way.",
    )
    out.print(
        f"channels_ipc to channels_redis, round by round: {report.rate_ratio:.1f} times the round trips per second "
        f"(bar: {RATE_BAR:g}), {report.median_ratio:.3f} of the median round trip (bar: {MEDIAN_BAR:g})"
    )
