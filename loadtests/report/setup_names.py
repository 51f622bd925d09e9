"""Find the name of a label's setup, if the label doesn't show it."""

from __future__ import annotations

from loadtests.analyse.results import Results


def shown_with(results: Results, label: str) -> str:
    """Return the name of the setup to show with a label.

    It is empty if the label starts with it, or if all labels have the same setup.
    """
    setups = {entry.label: entry.setup for entry in results.study.entries}
    own = setups[label]
    says_it = label == own or label.startswith(f"{own}-")
    return "" if says_it or len({*setups.values()}) == 1 else own


def note(results: Results) -> str:
    """Return a note that all labels have the same setup. It is empty if they don't, or if the labels show it."""
    entries = results.study.entries
    if len({entry.setup for entry in entries}) > 1 or all(entry.label.startswith(entry.setup) for entry in entries):
        return ""
    return f"Each is {entries[0].setup} with other settings; see the compared setups."
