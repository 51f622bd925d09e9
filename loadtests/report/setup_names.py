"""Which setup a label stands for, where it does not say so itself."""

from __future__ import annotations

from loadtests.analyse.results import Results


def shown_with(results: Results, label: str) -> str:
    """The name of the setup to show with a label; empty where the label begins with it, or all are of one setup."""
    setups = {entry.label: entry.setup for entry in results.study.entries}
    own = setups[label]
    says_it = label == own or label.startswith(f"{own}-")
    return "" if says_it or len({*setups.values()}) == 1 else own


def note(results: Results) -> str:
    """That all labels are of one setup; empty where there are several, or the labels say it."""
    entries = results.study.entries
    if len({entry.setup for entry in entries}) > 1 or all(entry.label.startswith(entry.setup) for entry in entries):
        return ""
    return f"Each is {entries[0].setup} with other settings: see what was compared."
