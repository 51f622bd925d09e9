"""What was skipped, invalid or doubtful, and why: in short by reason, and trial by trial."""

from __future__ import annotations

from loadtests.analyse import metrics
from loadtests.analyse.results import Results
from loadtests.report.view import Cell, Section, Table
from loadtests.report.words import DASH, number, plural
from loadtests.store import Trial

NUMBERED = 6  # trials that the short form names


def section(results: Results) -> Section:
    """The setups that could not run, the flags, the generator's own part, and the ends of the logs."""
    skipped = tuple(f"{setup} was skipped: {why}." for setup, why in results.skipped.items())
    flags = [(trial, flag) for trial in results.trials for flag in trial.flags]
    if not flags:
        text: tuple[str, ...] = ("No trial was invalid or doubtful.",)
    else:
        text = (
            "An invalid trial says nothing of the server: it is shown here, repeated once, and never averaged in. A "
            "doubtful one counts.",
            *_by_reason(flags),
        )
    rows = tuple(
        (
            Cell(trial.name),
            Cell(str(trial.block)),
            Cell(flag["severity"], tone="bad" if flag["severity"] == "invalid" else "muted"),
            Cell(flag["sentence"]),
        )
        for trial, flag in flags
    )
    heads = ("trial", "block", "severity", "what happened, what to do")
    tables = (Table("flags", "Flagged trials", heads, rows, folded=True),) if rows else ()
    logs = tuple(
        (f"End of the log of {trial.name}", trial.log) for trial in results.trials if trial.flags and trial.log
    )
    return Section(
        "invalid", "What was invalid, and why", (*skipped, *text), (*tables, *_generator(results)), folded=logs
    )


def _by_reason(flags: list[tuple[Trial, dict[str, str]]]) -> list[str]:
    """``generator_busy: 2 trials invalid (0014, 0015)`` and what the first of them says."""
    lines = []
    for reason, severity in dict.fromkeys((flag["reason"], flag["severity"]) for _, flag in flags):
        alike = [(trial, flag) for trial, flag in flags if (flag["reason"], flag["severity"]) == (reason, severity)]
        numbers = list(dict.fromkeys(f"{trial.number:04d}" for trial, _ in alike))
        more = f" and {len(numbers) - NUMBERED} more" if len(numbers) > NUMBERED else ""
        named = f"{', '.join(numbers[:NUMBERED])}{more}"
        lines.append(f"{reason}: {plural(len(alike), 'trial')} {severity} ({named}): {alike[0][1]['sentence']}")
    return lines


def _generator(results: Results) -> tuple[Table, ...]:
    """What the generator itself did to the figures, at its worst."""
    rows = []
    for cell in results.cells.values():
        if cell.valid:
            lags, shares = zip(*(metrics.generator(trial) for trial in cell.valid), strict=True)
            worst = [max((value for value in values if value is not None), default=None) for values in (lags, shares)]
            share = DASH if worst[1] is None else f"{worst[1]:.0%}"
            rows.append((Cell(cell.label), Cell(cell.test), Cell(number(worst[0])), Cell(share)))
    if not rows:
        return ()
    heads = ("setup", "test", "lateness p99, ms", "CPU, of one core")
    note = "The worst of each setup's valid trials. Lateness: how late the generator noticed that a request was due."
    return (Table("generator", "The generator's own part", heads, tuple(rows), note, frozenset({2, 3})),)
