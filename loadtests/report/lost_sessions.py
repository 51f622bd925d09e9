"""What is said of a run before anything else: users who met what is somebody else's, or were no longer known."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.analyse.results import Cell, Results
from loadtests.formatting import series
from loadtests.report.findings import condition

KINDS = {"mixed-up": "mixed up", "lost-session": "lost"}


def unkept(results: Results) -> Iterator[str]:
    """A sentence for each test in which sessions were mixed up or lost, with how often; trials that are invalid for
    that count as well."""
    for test in results.tests:
        labels = [label for label in results.labels_in(test.name) if label != results.twin]
        told = [f"{label} {what}" for label in labels if (what := _what(results.cells[label, test.name]))]
        if told:
            yield f"Sessions were not kept {condition(results, test)}: {series(told)}."


def _what(cell: Cell) -> str:
    found = [trial.result.errors for trial in (*cell.valid, *cell.invalid) if trial.result]
    counts = {words: sum(errors.get(kind, 0) for errors in found) for kind, words in KINDS.items()}
    return " and ".join(f"{count:,} {words}" for words, count in counts.items() if count)
