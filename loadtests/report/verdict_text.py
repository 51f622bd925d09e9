"""Describe a comparison: its verdict, a remark, and how to settle an inconclusive verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.verdicts import Verdict
from loadtests.formatting import number, percent
from loadtests.plan.kinds import metric as metric_of
from loadtests.trials.overload import FAILED

TONES = {Verdict.FASTER: "good", Verdict.SLOWER: "bad", Verdict.CANNOT_SUSTAIN: "bad", Verdict.LOSES: "bad"}


def word(comparison: Comparison, short: bool = False) -> str:
    """Return the verdict, the rate that the setup sustains, or the share of deliveries that the setup loses.

    The metric determines the words. For example, a metric of cost uses "cheaper" instead of "faster".
    """
    if overload := comparison.candidate_standing.overload:
        return f"sustains {number(overload.sustains)}/s" if short else str(overload)
    if comparison.verdict is Verdict.LOSES:
        return f"loses {percent(comparison.candidate_standing.lost)}"
    metric = metric_of(comparison.metric)
    own: dict[Verdict, str] = {Verdict.FASTER: metric.better, Verdict.SLOWER: metric.worse}
    return own.get(comparison.verdict) or str(comparison.verdict.value)


def effect(comparison: Comparison, time: str = "response time") -> str:
    """Return the verdict with the size of the difference, such as ``65% lower throughput``.

    ``time`` is the name of the measured time, such as response time.
    """
    if comparison.verdict not in (Verdict.FASTER, Verdict.SLOWER) or comparison.candidate_standing.overload:
        return word(comparison)
    if not 0 < comparison.ratio < math.inf:
        return word(comparison)
    bounded = "at least " if comparison.at_least or comparison.at_most else ""
    return f"{bounded}{metric_of(comparison.metric).change_of(comparison.ratio, time)}"


def remark(comparison: Comparison, short: bool = False) -> str:
    """Return a remark about failures and about a ratio within the noise floor, or an empty string."""
    parts = list(_failures(comparison))
    if noisy(comparison):
        parts.append("noise" if short and parts else "within the noise")
    return (", " if short else "; ").join(parts)


def noisy(comparison: Comparison) -> bool:
    return comparison.inside_noise and comparison.verdict is not Verdict.EQUIVALENT


def what_would_settle(comparisons: Iterable[Comparison]) -> str:
    """Return advice for inconclusive verdicts, or an empty string. More blocks don't settle failures and bounds."""
    would = any(
        one.verdict is Verdict.INCONCLUSIVE
        and not (one.at_least or one.at_most or one.baseline_standing.fails or one.candidate_standing.fails)
        for one in comparisons
    )
    return "More blocks (--blocks) or a quieter machine would settle it." if would else ""


def _failures(comparison: Comparison) -> Iterator[str]:
    """Yield the shares of failures, such as ``15.1% failed``. Failures of the baseline are marked as such."""
    candidate, baseline = comparison.candidate_standing, comparison.baseline_standing
    if candidate.overload:
        yield candidate.overload.why
        if candidate.loses:
            yield f"loses {percent(candidate.lost)}"
    else:
        yield from (one for one in candidate.failures if one != word(comparison))
    name = "before" if comparison.baseline == comparison.candidate else f"of {comparison.baseline}"
    if baseline.failed > baseline.allowed:
        yield f"{baseline.failed:.2%} {name} failed"
    if baseline.loses:
        yield f"{percent(baseline.lost)} {name} lost"
    if baseline.unconnected > FAILED:
        yield f"{percent(baseline.unconnected)} of the connections {name} refused or lost"
