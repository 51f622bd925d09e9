"""Evaluate the statistics and the searches with simulations. Create tables for the terminal and the documentation."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

from loadtests import files
from tools.simulation.capacity_tables import SEARCHES_A_STUDY, capacity_table
from tools.simulation.measured_noise import EFFECT, MACHINES, METRICS, SIZES, WAYS, simulate_measured
from tools.simulation.studies import (
    NOISES,
    Rates,
    scenarios,
    scenarios_of_runs,
    scenarios_of_until,
    simulate,
    simulate_runs,
)
from tools.simulation.sweeps import swept
from tools.simulation.tabular import SimulatedTable, as_rst, as_text

STUDIES = 4000
SEARCHES = 100
SEED = 2016


def main(out_dir: Path, repetitions: int = STUDIES, seed: int = SEED, say: Callable[[str], None] = print) -> list[Path]:
    """Run all simulations. Print each table, and write it as CSV and as reST (.inc) for the documentation.

    The same seed creates the same files.

    Args:
        out_dir: The folder for the files.
        repetitions: The number of simulated studies for each row. Slow tables use fewer studies.
        seed: The seed of the simulations.
        say: The function that prints a table.

    Returns:
        The paths of the files.
    """
    files.make_folder(out_dir)
    files.require_writable(out_dir / "simulation")
    written = []
    fewer = max(1, repetitions // 4)
    searches = max(SEARCHES_A_STUDY, repetitions * SEARCHES // STUDIES)
    for table in (
        verdicts_table(repetitions, seed),
        measured_table(max(1, fewer // 3), seed),
        until_table(max(1, fewer // 2), seed),
        runs_table(fewer, seed),
        capacity_table(searches, seed),
        best_table(fewer, seed),
    ):
        say(as_text(table))
        rows = io.StringIO()
        csv.writer(rows, lineterminator="\n").writerows([table.header, *table.rows])
        for ending, text in (("csv", rows.getvalue()), ("inc", as_rst(table))):
            written.append(out_dir / f"{table.name}.{ending}")
            files.write_text(written[-1], text)
    return written


def verdicts_table(studies: int, seed: int) -> SimulatedTable:
    """Count false verdicts and found effects in studies with a baseline and four candidates."""
    rows = [simulate(scenario, studies, seed + row) for row, scenario in enumerate(scenarios())]
    return _table_of_rates(
        "simulation-verdicts", "Verdicts in simulated studies of a baseline and four candidates", rows
    )


def measured_table(studies: int, seed: int) -> SimulatedTable:
    """Compare verdicts from consecutive trials with verdicts from slices, with realistic noise and in the same time."""
    shapes = [(machine, size, way) for machine in MACHINES for size in SIZES for way in WAYS]
    rows = [
        simulate_measured(machine, way, *size, studies, seed + row) for row, (machine, size, way) in enumerate(shapes)
    ]
    cells = [
        (
            rates.machine.name,
            f"{rates.setups} in {rates.seconds / 60:g} min",
            rates.way.name,
            f"{rates.false:.1%}",
            f"{rates.found:.0%}",
            f"×/÷ {rates.reach:.2f}",
        )
        for rates in rows
    ]
    header = ("machine", "setups", "measured", "any false verdict", f"×{1 + EFFECT:g} found", "typical interval")
    title = f"Verdicts in simulated studies of {METRICS} metrics under measured noise, {studies} studies per row"
    return SimulatedTable("simulation-ways", title, header, cells)


def until_table(studies: int, seed: int) -> SimulatedTable:
    """Count verdicts in studies that add blocks until the intervals are narrow."""
    rows = [simulate(scenario, studies, seed + row) for row, scenario in enumerate(scenarios_of_until())]
    return _table_of_rates("simulation-until", "Verdicts in simulated studies with --precision", rows)


def runs_table(studies: int, seed: int) -> SimulatedTable:
    """Count verdicts between two runs of five setups."""
    rows = [simulate_runs(scenario, studies, seed + row) for row, scenario in enumerate(scenarios_of_runs())]
    return _table_of_rates("simulation-runs", "Verdicts between two simulated runs of five setups", rows)


def best_table(sweeps: int, seed: int) -> SimulatedTable:
    """Count sweeps in which the analysis drops a cell that is truly best."""
    shapes = [(noise, cells, blocks) for noise in NOISES for cells in (6, 12) for blocks in (2, 4, 6)]
    rows = [swept(*shape, sweeps, seed + row) for row, shape in enumerate(shapes)]
    header = ("scenario", "cells", "blocks", "best cell dropped", "cells kept")
    cells = [(one.noise, str(one.cells), str(one.blocks), f"{one.lost:.1%}", f"{one.kept:.1f}") for one in rows]
    title = f"Simulated sweeps with equally good cells, 9% noise per trial, {sweeps} sweeps per row"
    return SimulatedTable("simulation-best", title, header, cells)


def _table_of_rates(name: str, title: str, rows: Sequence[Rates]) -> SimulatedTable:
    header = (
        "scenario",
        "true effect",
        "noise per trial",
        "candidates",
        "blocks",
        "any false verdict",
        "effect found",
        "equal called equivalent",
        "widest interval",
    )
    cells = [
        (
            rates.scenario.name
            if rates.scenario.until is None
            else f"{rates.scenario.name}, {rates.scenario.until:.0%}",
            f"{rates.scenario.effect:.0%}",
            f"{rates.scenario.sd:.0%}",
            str(rates.scenario.candidates),
            f"{rates.blocks:.0f}" if rates.scenario.until is None else f"{rates.blocks:.0f} on average",
            f"{rates.false:.1%}",
            f"{rates.found:.0%}" if rates.scenario.effect else "–",
            f"{rates.equal:.0%}",
            _width(rates.width),
        )
        for rates in rows
    ]
    return SimulatedTable(name, f"{title}, {rows[0].studies} studies per row", header, cells)


def _width(width: float) -> str:
    """Return the width as a percentage, or as a factor if it is 100% or more."""
    return f"±{width:.1%}" if width < 1 else f"×/÷ {1 + width:.1f}"
