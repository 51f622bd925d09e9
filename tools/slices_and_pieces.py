"""Compare measurements in slices with measurements in single pieces, with few and with many setups in memory.

    python -m tools.slices_and_pieces --setups 3,20 --blocks 8 --seconds 1.5 --output docs/examples

Each number of setups is a separate run. Every second block measures each setup in a single piece instead of slices. In
both kinds of blocks, all setups run at the same time. The ratio of slices to pieces is the mean over setups in two
adjacent blocks. The confidence interval of the ratio is based on Student's t over these pairs of blocks.

The program writes ``slices-and-pieces.csv`` (the value of each trial) and ``slices-and-pieces.inc`` (the table).
"""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Generator, Iterable, Iterator, Sequence
from math import exp, log, sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, NamedTuple
from unittest import mock

import typer
from scipy.special import stdtrit

from loadtests import files
from loadtests.analyse.results import Results
from loadtests.commands.console import fail, out
from loadtests.commands.progress import carry_out
from loadtests.errors import UserError, require_within
from loadtests.measure.bench import Bench
from loadtests.measure.interleaved import OnStep, run_interleaved
from loadtests.measure.observation import PlannedTrial
from loadtests.measure.prepare import RunOptions, prepare
from loadtests.plan import slices, study
from loadtests.plan.cost_unit import CPU
from loadtests.plan.metrics import P50
from loadtests.records import Trial
from loadtests.records.run.folder import Run
from tools.simulation.tabular import SimulatedTable, as_rst, as_text

SERVERS = ("gunicorn-gthread", "granian-wsgi", "uvicorn")
BOUNDS = {CPU.name: 0.05, P50.name: 0.10}
CONFIDENCE = 0.90  # Two one-sided tests at 5%.
MIN_PAIRS = 2  # The minimum number of pairs of blocks.
PIECE_S = 3600.0  # Longer than any test, so that a trial has a single piece.
NAME = "slices-and-pieces"


class Value(NamedTuple):
    """The value of a metric in a single trial."""

    setups: int
    test: str
    metric: str
    label: str
    block: int
    way: str
    value: float


@dataclasses.dataclass(frozen=True)
class Ratio:
    """The ratio of slices to pieces for a metric, with its 90% interval."""

    setups: int
    test: str
    metric: str
    pairs: int
    value: float
    low: float
    high: float

    @property
    def is_equivalent(self) -> bool:
        """Whether the whole interval is within the metric's bounds."""
        bound = BOUNDS[self.metric]
        return 1 - bound <= self.low and self.high <= 1 + bound


def main(
    setups: Annotated[str, typer.Option(help="The numbers of setups that run at the same time.")] = "3,20",
    blocks: Annotated[int, typer.Option(help="The number of blocks. Every second block measures single pieces.")] = 8,
    seconds: Annotated[float, typer.Option(help="The measured time of each trial, in seconds.")] = 1.5,
    output: Annotated[Path, typer.Option(help="The folder for the values and the table.")] = Path("docs/examples"),
) -> None:
    """Measure the same setups in slices and in single pieces, and compare CPU time and p50."""
    require_within("--blocks", blocks, 2 * MIN_PAIRS, study.MAX_BLOCKS)
    require_within("--seconds", seconds, 0.1, 600)
    counts = [int(count) for count in setups.split(",")]
    for count in counts:
        require_within("--setups", count, 2, study.MAX_TRIALS)
    files.make_folder(output)
    files.require_writable(output / NAME)
    values = [value for count in counts for value in measured(count, blocks, seconds)]
    rows = io.StringIO()
    csv.writer(rows, lineterminator="\n").writerows([Value._fields, *values])
    files.write_text(output / f"{NAME}.csv", rows.getvalue())
    found = table(ratios(values), seconds)
    files.write_text(output / f"{NAME}.inc", as_rst(found))
    out.print(as_text(found))


def measured(count: int, blocks: int, seconds: float) -> Iterator[Value]:
    """Run a study of ``count`` setups, and yield the values of its valid trials."""
    execution = prepare(_study(count, blocks, seconds), RunOptions())
    if not execution.study.interleave:
        raise UserError(f"the free memory can't hold {count} setups. Use a smaller number in --setups")
    execution = dataclasses.replace(execution, interleaved=alternating)
    carry_out(execution, anyway=True)
    yield from read(execution.run, count)


def alternating(
    bench: Bench, planned: Sequence[PlannedTrial], on_step: OnStep
) -> Generator[Sequence[Trial], None, None]:
    """Measure the trials of a block in slices or in single pieces, depending on the block's number."""
    length_s = slices.SLICE_S if way(planned[0].slot.block) == "slices" else PIECE_S
    with mock.patch.object(slices, "SLICE_S", length_s):
        yield from run_interleaved(bench, planned, on_step)


def way(block: int) -> str:
    """Return "slices" or "pieces". Their order alternates between pairs of blocks, so a steady drift cancels out."""
    return "slices" if block % 4 in (0, 1) else "pieces"


def read(run: Run, count: int) -> Iterator[Value]:
    """Yield the CPU time per request and the p50 of each valid trial."""
    for one in Results(run).observations:
        if one.metric in BOUNDS:
            yield Value(count, one.test, one.metric, one.label, one.block, way(one.block), one.value)


def ratios(values: Iterable[Value]) -> Iterator[Ratio]:
    """Yield a ratio for each number of setups, test and metric, if enough pairs of blocks are valid."""
    by_cell: dict[tuple[int, str, str], list[Value]] = {}
    for value in values:
        by_cell.setdefault((value.setups, value.test, value.metric), []).append(value)
    for (count, test, metric), own in by_cell.items():
        logs = list(_log_ratios(own))
        if len(logs) < MIN_PAIRS:
            continue
        reach = float(stdtrit(len(logs) - 1, (1 + CONFIDENCE) / 2)) * stdev(logs) / sqrt(len(logs))
        centre = mean(logs)
        yield Ratio(count, test, metric, len(logs), *map(exp, (centre, centre - reach, centre + reach)))


def _log_ratios(values: Iterable[Value]) -> Iterator[float]:
    """Yield the logarithm of the ratio for each pair of adjacent blocks, as the mean over setups."""
    by_pair: dict[int, dict[str, dict[str, float]]] = {}
    for one in values:
        by_pair.setdefault((one.block - 1) // 2, {}).setdefault(one.label, {})[one.way] = log(one.value)
    for by_label in by_pair.values():
        known = [found["slices"] - found["pieces"] for found in by_label.values() if len(found) == 2]
        if known:
            yield mean(known)


def table(found: Iterable[Ratio], seconds: float) -> SimulatedTable:
    """Return a table with a row for each ratio."""
    names = {CPU.name: "CPU per request", P50.name: "p50"}
    rows = [
        (
            str(one.setups),
            one.test,
            names[one.metric],
            f"×{one.value:.3f}",
            f"×{one.low:.3f} to ×{one.high:.3f}",
            f"±{BOUNDS[one.metric]:.0%}",
            "yes" if one.is_equivalent else "no",
            str(one.pairs),
        )
        for one in found
    ]
    header = ("setups", "test", "metric", "slices / pieces", "90% interval, on its own", "bounds", "within", "pairs")
    return SimulatedTable(NAME, f"Slices relative to single pieces, {seconds:g} s in each trial", header, rows)


def _study(count: int, blocks: int, seconds: float) -> study.Study:
    servers = [SERVERS[place % len(SERVERS)] for place in range(count)]
    common = {"duration": f"{seconds}s", "warmup": "300ms"}
    tests = {f"rate-{rate}": {"kind": "latency", "rate": rate, "percentiles": ["p50"], **common} for rate in (73, 300)}
    values = {
        "title": f"Load in slices and in one piece, {count} setups",
        "setups": [{"setup": server, "label": f"{server}-{place}"} for place, server in enumerate(servers, start=1)],
        "tests": {**tests, "closed-loop": {"kind": "throughput", "connections": 10, **common}},
        "blocks": blocks,
    }
    return study.parse(values, f"{NAME}-{count}", NAME)


if __name__ == "__main__":
    try:
        typer.run(main)
    except UserError as error:
        fail(str(error))
