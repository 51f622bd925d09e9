"""Describe the findings of a run in which each candidate has its own baseline. The pairs aren't ranked."""

from __future__ import annotations

from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from loadtests.formatting import capital, plural, series
from loadtests.plan.kinds import Test
from loadtests.plan.metrics import Metric
from loadtests.report.verdict_text import effect, noisy

MAX_NAMED, BRIEFLY_NAMED = 12, 3  # maximum number of setups in a sentence, and in a brief sentence


def sentences(results: Results, test: Test, metric: Metric) -> tuple[str, str, bool]:
    """Return a brief and a complete text about the differences, and whether any setup differs from its baseline.

    The texts are empty if nothing is compared.
    """
    found = _comparisons(results, test, metric)
    clear = [one for one in found if _differs(one)]
    same = [one.candidate for one in found if one.verdict is Verdict.EQUIVALENT]
    rest = [one.candidate for one in found if one not in clear and one.candidate not in same]
    time = results.latency(test.name)
    parts = [
        series([f"{one.candidate} {effect(one, time)}" for one in clear], MAX_NAMED),
        f"equivalent within ±{results.study.delta:.0%}: {series(same, MAX_NAMED)}" if same else "",
        f"inconclusive: {series(rest, MAX_NAMED)}" if rest and (clear or same) else "",
    ]
    said = "; ".join(filter(None, parts)) or f"no significant difference {_after(results)}"
    whole = f"Each compared with its own baseline: {said}." if found else ""
    return f"{title(results, test, metric)}." if len(clear) > BRIEFLY_NAMED else whole, whole, bool(clear)


def title(results: Results, test: Test, metric: Metric) -> str:
    """Return the title of a metric's chart, which states how many setups differ from their baselines."""
    found = _comparisons(results, test, metric)
    differ = [one for one in found if _differs(one)]
    time = results.latency(test.name)
    if not found:
        return capital(metric.with_unit(metric.in_words(time)))
    if not differ:
        return f"No significant difference from its own baseline {_after(results)}"
    ordered = sorted(differ, key=lambda one: one.ratio)
    ends = dict.fromkeys(f"{one.candidate} {effect(one, time)}" for one in (ordered[0], ordered[-1]))
    of = f"{len(differ)} of {len(found)}" if len(differ) < len(found) else f"All {len(found)}"
    return f"{of} differ from their own baselines: {' to '.join(ends)}"


def _comparisons(results: Results, test: Test, metric: Metric) -> list[Comparison]:
    keys = ((label, test.name, metric.name) for label in results.candidates)
    return [one for key in keys if (one := results.comparisons.get(key))]


def _differs(one: Comparison) -> bool:
    return one.verdict not in (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE) and not noisy(one)


def _after(results: Results) -> str:
    return f"after {plural(results.blocks, 'block')}"
