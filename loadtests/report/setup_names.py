"""Find the setup names to show next to labels that don't contain the name of their setup."""

from __future__ import annotations

from loadtests.analyse.results import Results


def shown_with(results: Results, label: str) -> str:
    """Return the name of the setup to show next to a label.

    Return an empty string if the label already starts with the name, or if all labels have the same setup.
    """
    setups = {entry.label: entry.setup for entry in results.study.entries}
    own = setups[label]
    says_it = label == own or label.startswith(f"{own}-")
    return "" if says_it or len({*setups.values()}) == 1 else own


def note(results: Results) -> str:
    """Return a note that all labels have the same setup.

    The note is empty if there are several setups, or if each label starts with the name of its setup.
    """
    entries = results.study.entries
    if len({entry.setup for entry in entries}) > 1 or all(entry.label.startswith(entry.setup) for entry in entries):
        return ""
    return f"Each label is {entries[0].setup} with other settings; see the compared setups."
