"""The layers' table in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from loadtests.layers.result import MEDIAN_BAR, RATE_BAR, LayersReport


def print_table(report: LayersReport, console: Console | None = None) -> None:
    """Prints a row per layer and, below, how the IPC layer compares with Redis."""
    rounds = len(report.layers[0].rounds)
    cores = ", ".join(map(str, report.cores))
    table = Table(
        title=f"Round trips of {report.body_bytes:,} bytes between two processes, cores {cores}",
        caption=f"medians of {rounds} rounds of {report.duration_s:g} s one at a time "
        f"and {report.duration_s:g} s with {report.in_flight} under way",
    )
    table.add_column("layer")
    for heading in ("p50, µs", "p99, µs", "round trips/s", "delivered"):
        table.add_column(heading, justify="right")
    for layer in report.layers:
        table.add_row(
            layer.name,
            f"{layer.p50_us:,.1f}",
            f"{layer.p99_us:,.1f}",
            f"{layer.per_second:,.0f}",
            f"{layer.delivered:,} of {layer.sent:,}",
        )
    console = console or Console()
    console.print(table)
    console.print(
        f"channels_ipc to channels_redis, round by round: {report.rate_ratio:.1f} times the round trips per second "
        f"(bar: {RATE_BAR:g}), {report.median_ratio:.3f} of the median round trip (bar: {MEDIAN_BAR:g})"
    )
