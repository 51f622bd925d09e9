"""Summarize the results of a run after each of its blocks."""

from __future__ import annotations

from loadtests.analyse.reasons import is_unverified
from loadtests.analyse.results import Results
from loadtests.formatting import capital, figure
from loadtests.records.run.folder import Run
from loadtests.report.findings import by_importance, condition, title


def line(run: Run, block: int) -> str:
    """Return a line about the run so far.

    An example is ``block 2 of 4, trials: 38 valid, 2 unverified; so far gunicorn answers the most, 2,010 requests/s``.
    """
    results = Results(run)
    last = {trial.number: trial for trial in results.trials if trial.block == block}.values()
    unverified = sum(not trial.valid and is_unverified(trial.flags) for trial in last)
    counts = {
        "valid": sum(trial.valid for trial in last),
        "unverified": unverified,
        "invalid": sum(not trial.valid for trial in last) - unverified,
    }
    said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    blocks = len({slot.block for slot in run.record.order})
    leads = _leads(results)
    return f"block {block} of {blocks}, trials: {said}{f'; so far {leads}' if leads else ''}"


def _leads(results: Results) -> str:
    """Return a phrase about the leader of the most important test, or an empty string if there is no leader.

    After a single block, there are no intervals, so the phrase compares the figures.
    """
    test = by_importance(results)[0]
    metric = test.judged[0]
    ranked = [label for label in results.by_estimate(test, metric) if label != results.aa_copy]
    best = results.estimate(ranked[0], test.name, metric.name)
    if best is None or len(ranked) < 2:
        return ""
    if results.comparisons and results.blocks >= 2:
        found = title(results, test, metric)
        if found == capital(metric.with_unit(metric.in_words(results.latency(test.name)))):
            return ""  # nothing is ranked yet
        return f"{found[0].lower()}{found[1:]}" if found.startswith(("No ", "All ", "Equivalent")) else found
    words = figure(best) if metric.says_unit else f"{figure(best)} {metric.unit}".strip()
    return f"{ranked[0]} has the best {metric.short or metric.label}, {words} {condition(results, test)}"
