"""Show skipped, invalid and doubtful trials with their reasons, grouped by reason and by trial."""

from __future__ import annotations

from collections.abc import Callable

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import DASH, number, plural, series
from loadtests.records import Flag, Trial
from loadtests.records.run.run_record import LeftOut
from loadtests.report import tables
from loadtests.report.view import Field, Section, Table
from loadtests.trials import readings

NUMBERED = 6  # maximum number of trials that a line lists


def section(results: Results) -> Section:
    """Return the skipped setups, the flagged trials, the load generator's own delays, and the ends of logs."""
    left_out = tuple(_left_out(one) for one in results.record.left_out)
    flags = [(trial, flag) for trial in results.trials for flag in trial.flags]
    if not flags:
        text: tuple[str, ...] = ("No trial was invalid or doubtful." if results.trials else "Nothing was measured.",)
    else:
        text = (
            "An invalid trial doesn't describe the server: it is listed, repeated once, and never averaged. A "
            "doubtful trial counts.",
            *_by_reason(flags),
        )
    columns: dict[str, Callable[[tuple[Trial, Flag]], Field | str]] = {
        "trial": lambda one: one[0].name,
        "block": lambda one: str(one[0].block),
        "severity": lambda one: Field(one[1].severity, tone="bad" if one[1].invalid else "muted"),
        "what happened, what to do": lambda one: one[1].sentence,
    }
    layout = tables.Layout(words=tuple(columns), folded=True, only_on_pages=True)
    flagged = tables.listed("flags", "Flagged trials", flags, columns, "", layout)
    logs = tuple(
        (f"End of the log of {trial.name}", trial.log) for trial in results.trials if trial.flags and trial.log
    )
    return Section(
        "invalid",
        "Invalid and doubtful trials, with reasons",
        (*left_out, *text),
        (*([flagged] if flags else []), *_generator(results)),
        folded=logs,
    )


def _left_out(one: LeftOut) -> str:
    if one.test is None:
        return f"{one.label} was skipped: {one.why}."
    return f"{one.label} was left out of {one.test}: {one.why}."


def _by_reason(flags: list[tuple[Trial, Flag]]) -> list[str]:
    """Return a line for each reason, such as ``generator_busy: 2 trials invalid (0014, 0015): ...``.

    The line ends with the sentence of the first flag.
    """
    lines = []
    for reason, severity in dict.fromkeys((flag.reason, flag.severity) for _, flag in flags):
        alike = [(trial, flag) for trial, flag in flags if (flag.reason, flag.severity) == (reason, severity)]
        numbers = series(list(dict.fromkeys(f"{trial.number:04d}" for trial, _ in alike)), NUMBERED)
        lines.append(f"{reason}: {plural(len(alike), 'trial')} {severity} ({numbers}): {alike[0][1].sentence}")
    return lines


def _generator(results: Results) -> tuple[Table, ...]:
    """Return a table of the load generator's longest delays and highest CPU load."""
    cells = [cell for cell in results.cells.values() if cell.valid]
    if not cells:
        return ()
    table = tables.listed(
        "generator",
        "Delays and CPU of the load generator",
        cells,
        {
            "setup": lambda cell: cell.label,
            "test": lambda cell: cell.test,
            "scheduling delay p99, ms": lambda cell: number(_worst(cell, 0)),
            "reading delay p99, ms": lambda cell: number(_worst(cell, 1)),
            "CPU, of one core": lambda cell: DASH if (share := _worst(cell, 2)) is None else f"{share:.0%}",
        },
        "The highest value in each setup's valid trials. Scheduling delay: actual minus intended send time. Reading "
        "delay: how long a delivery may have waited in the generator before it was read.",
        tables.Layout(words=("test",), only_on_pages=True),
    )
    return (table,)


def _worst(cell: Cell, place: int) -> float | None:
    """Return the highest value in valid trials. ``place`` is the index of the value in ``readings.generator``."""
    found = (readings.generator(trial)[place] for trial in cell.valid)
    return max((value for value in found if value is not None), default=None)
