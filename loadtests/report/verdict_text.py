"""A comparison as a reader is told it: the verdict in its metric's words, what is to be said beside it, and what would
settle it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.overload import FAILED, Standing
from loadtests.analyse.verdicts import Verdict
from loadtests.formatting import number, percent
from loadtests.plan.kinds import metric as metric_of

TONES = {Verdict.FASTER: "good", Verdict.SLOWER: "bad", Verdict.CANNOT_HOLD: "bad", Verdict.LOSES: "bad"}


def word(comparison: Comparison) -> str:
    """The verdict in its metric's words: what costs is cheaper, and not faster; what it can hold instead, or loses."""
    if comparison.of_candidate.overload:
        return str(comparison.of_candidate.overload)
    if comparison.verdict is Verdict.LOSES:
        return f"loses {percent(comparison.of_candidate.lost)}"
    metric = metric_of(comparison.metric)
    own: dict[Verdict, str] = {Verdict.FASTER: metric.better, Verdict.SLOWER: metric.worse}
    return own.get(comparison.verdict) or str(comparison.verdict.value)


def remark(comparison: Comparison) -> str:
    """What a reader needs beside the verdict: what failed, or that noise alone may make it."""
    return "; ".join([*_failed(comparison), *(["inside the noise"] if noisy(comparison) else [])])


def what_would_settle(comparisons: Iterable[Comparison]) -> str:
    """How many blocks would probably settle what is inconclusive, as a sentence for all of it; empty where all is
    settled. What failed, or is a bound, is not settled by more of the same."""
    found = [one for one in comparisons if one.verdict is Verdict.INCONCLUSIVE]
    bounded = [one for one in found if one.at_least or one.at_most]
    open_ones = [one for one in found if not (one.of_baseline.fails or one.of_candidate.fails or one in bounded)]
    if not open_ones:
        return ""
    known = [one.blocks_needed for one in open_ones if one.blocks_needed is not None]
    if not known:
        return "More blocks (--blocks) or a quieter machine would tell."
    ends = dict.fromkeys((max(low for low, _ in known), max(high for _, high in known)))
    which = "it" if len(known) == len(open_ones) else f"{len(known)} of the {len(open_ones)}"
    return f"{' to '.join(map(str, ends))} blocks (--blocks) would probably settle {which}."


def _failed(comparison: Comparison) -> Iterator[str]:
    """``15.1% failed``, and of the baseline where it is the baseline's."""
    candidate, baseline = comparison.of_candidate, comparison.of_baseline
    if candidate.overload:
        yield candidate.overload.why
        if candidate.loses:
            yield f"loses {percent(candidate.lost)}"
    else:
        yield from (one for one in candidate.failures if one != word(comparison))
    if baseline.fails:
        name = "before" if comparison.baseline == comparison.candidate else f"of {comparison.baseline}"
        yield from _of_baseline(baseline, name)


def _of_baseline(baseline: Standing, name: str) -> Iterator[str]:
    """What failed of the baseline, by the name that it has here."""
    if baseline.failed > baseline.allowed:
        yield f"{baseline.failed:.2%} {name} failed"
    if baseline.loses:
        yield f"{percent(baseline.lost)} {name} lost"
    if baseline.unconnected > FAILED:
        yield f"{percent(baseline.unconnected)} of the connections {name} refused or lost"


def short_word(comparison: Comparison) -> str:
    """The verdict where there is little room."""
    overload = comparison.of_candidate.overload
    return f"holds {number(overload.holds)}/s" if overload else word(comparison)


def short_remark(comparison: Comparison) -> str:
    """The remark where there is little room."""
    parts = [*_failed(comparison), *(["noise"] if noisy(comparison) else [])]
    return ", ".join(parts) if parts != ["noise"] else "inside the noise"


def noisy(comparison: Comparison) -> bool:
    """Whether noise alone may make the ratio."""
    return comparison.inside_noise and comparison.verdict is not Verdict.EQUIVALENT
