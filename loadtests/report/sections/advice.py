"""Describe the advice that a sweep gives: which cell to choose, and how certain the choice is."""

from __future__ import annotations

from loadtests.analyse.sweep_results import SweepResults
from loadtests.formatting import number, ratio, series
from loadtests.plan.sweep import environment


def what_to_choose(swept: SweepResults) -> str:
    """Return sentences that advise which cell of a sweep to choose."""
    if not swept.known_measures:
        return "Nothing: no cell has a figure."
    if not swept.knows_noise:
        return (
            "Not known: too few blocks contain valid trials to distinguish differences from noise. "
            "Add blocks (--blocks)."
        )
    choice = swept.choice
    if choice is None:
        best = [
            f"{swept.words(label)} for {measure.name}"
            for measure in swept.known_measures
            if (label := swept.looks_best(measure))
        ]
        return f"It depends: no cell is within noise of the best in all measures. Best by appearance: {series(best)}."
    unknown = [measure.name for measure in swept.measures if measure not in swept.known_measures]
    without = f" Unknown, because the trials are too short: {series(unknown)}." if unknown else ""
    return f"{_standing(swept, choice)}{_memory(swept, choice)}.{without} Set {environment(swept.env[choice])}"


def _standing(swept: SweepResults, choice: str) -> str:
    behind = []
    for measure in swept.known_measures:
        place = swept.places[measure][choice]
        best = swept.looks_best(measure)
        if place.ratio != 1 and best is not None:
            behind.append(
                f"{ratio(place.ratio)} the {measure.name} of {swept.words(best)}, at worst {ratio(place.worst)}"
            )
    if not behind:
        return f"{swept.words(choice)} looks best in {series([measure.name for measure in swept.known_measures])}"
    return f"{swept.words(choice)} is within noise of the best ({'; '.join(behind)})"


def _memory(swept: SweepResults, choice: str) -> str:
    """Compare the chosen cell's memory with the memory of a cell that looks better in a measure, if there is one."""
    looking_best = (swept.looks_best(measure) for measure in swept.known_measures)
    best = next((label for label in looking_best if label not in (None, choice)), None)
    if best is None or choice not in swept.memory or best not in swept.memory:
        return ""
    share = swept.memory[choice] / swept.memory[best]
    if abs(share - 1) <= swept.results.study.delta:
        return f", and uses as much memory as {swept.words(best)}"
    figures = f"{number(swept.memory[choice])} instead of {number(swept.memory[best])} MB"
    return f", and uses {share:.0%} of the memory of {swept.words(best)} ({figures})"
