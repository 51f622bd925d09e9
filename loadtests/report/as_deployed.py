"""Describe a project's deployed command, and compare it with the setup that has the same server."""

from __future__ import annotations

from collections.abc import Iterator

from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from loadtests.plan.entries import Entry
from loadtests.report.findings import by_importance
from loadtests.report.verdict_text import effect, noisy
from loadtests.setups.variants import is_deployed


def sentences(results: Results) -> Iterator[str]:
    """Yield a sentence with each deployed command, and a comparison if the setup with the same server is better."""
    for entry in results.study.entries:
        if is_deployed(entry.variant):
            command = f"{entry.label} is your deployed command: {results.setup(entry.label).config}."
            yield " ".join(filter(None, (command, _comparison(results, entry))))


def _comparison(results: Results, entry: Entry) -> str:
    plain = next((one.label for one in results.study.entries if one.setup == entry.setup and not one.variant), None)
    if plain is None:
        return ""
    test = by_importance(results)[0]
    judged = [one for one in results.judged if (one.test, one.metric) == (test.name, test.judged[0].name)]
    found = next(iter(results.compared([(plain, entry.label)], judged)), None)
    if found is None or not found.informative or found.verdict is not Verdict.SLOWER or noisy(found):
        return ""
    return (
        f"Compared with {plain}, it has {effect(found, results.latency(test.name))}. Try the options in "
        f"supervisor/conf.d/{entry.setup}.conf."
    )
