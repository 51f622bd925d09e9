"""The verdicts in words: the tables, and the sentences above them."""

from __future__ import annotations

from typing import Any

from loadtests.analyse.compare import Comparison
from loadtests.analyse.verdicts import MOST_BLOCKS, Verdict
from loadtests.report import metrics
from loadtests.report.table import Results
from loadtests.report.view import Cell, Table
from loadtests.report.wording import DASH, plural, ratio, ratio_interval, series

TONES = {Verdict.FASTER: "good", Verdict.SLOWER: "bad"}


def name(results: Results, test: str, metric: str) -> str:
    """What a judged metric is called."""
    names = {"rps": "requests per second", metrics.CPU: "CPU per request"}
    return names.get(metric) or f"{metric.removesuffix('_ms')} {results.latency(test)}"


def word(found: Comparison) -> str:
    """The verdict; for what costs and does not wait, in words for money."""
    costs = {Verdict.FASTER: "cheaper", Verdict.SLOWER: "dearer"} if found.metric == metrics.CPU else {}
    return costs.get(found.verdict, found.verdict.value)


def remark(found: Comparison) -> str:
    """What a reader needs beside the verdict: that noise alone may make it, or how many blocks would settle it."""
    parts = ["inside the noise"] if found.inside_noise and found.verdict is not Verdict.EQUIVALENT else []
    if found.blocks_needed is not None:
        many = f"over {MOST_BLOCKS}" if found.blocks_needed >= MOST_BLOCKS else str(found.blocks_needed)
        parts.append(f"{many} blocks would probably settle it")
    return "; ".join(parts)


def table(results: Results, test: dict[str, Any]) -> Table:
    """A row for each setup and metric."""
    rows = []
    for metric in metrics.judged(test["kind"]):
        for label in results.candidates:
            found = results.comparisons.get((label, test["name"], metric))
            rows.append((Cell(label), Cell(name(results, test["name"], metric)), *_fields(found)))
    return Table(
        f"verdicts-{test['name']}",
        f"{test['name']}: against {results.baseline}",
        ("setup", "metric", "ratio", "verdict", "remark", "blocks"),
        tuple(rows),
        note=_noise(results, test),
        numeric=frozenset({2, 5}),
    )


def _fields(found: Comparison | None) -> tuple[Cell, ...]:
    if found is None:
        return Cell(DASH, tone="muted"), Cell("no block has both", tone="muted"), Cell(""), Cell("0")
    muted = found.inside_noise or found.verdict in (Verdict.INCONCLUSIVE, Verdict.EQUIVALENT)
    tone = "muted" if muted else TONES[found.verdict]
    within = ratio_interval(found) or "open interval"
    return (
        Cell(ratio(found.ratio), within, f"{ratio(found.ratio)} ({within})", tone="muted" if muted else ""),
        Cell(word(found), tone=tone),
        Cell(remark(found), tone="muted"),
        Cell(str(found.blocks)),
    )


def _noise(results: Results, test: dict[str, Any]) -> str:
    """The caption's part on the noise floor."""
    floors = [
        f"{name(results, test['name'], metric)} {ratio_interval(floor) or ratio(floor.ratio)}"
        for metric in metrics.judged(test["kind"])
        if (floor := results.floors.get((test["name"], metric)))
    ]
    if not floors:
        return "The noise floor is not known: the baseline ran under one label only."
    return (
        f"Noise floor: {results.baseline} against itself as {results.twin} gave {series(floors)}. "
        "Differences inside it are grey."
    )


def paragraphs(results: Results) -> tuple[str, ...]:
    """How to read the verdicts."""
    family = max((found.family for found in results.comparisons.values()), default=0)
    delta = results.study["delta"]
    text = (
        f"Each setup against {results.baseline}: the ratio within each block, its median, and an interval over blocks. "
        "A verdict is given only where the interval allows it: faster or slower where it leaves out 1, equivalent "
        f"where it lies within ±{delta:.0%}, otherwise inconclusive."
    )
    if family:
        text += f" The intervals hold together with 95% for all {plural(family, 'comparison')} of the run."
    return (text,)


def sentences(results: Results) -> list[str]:
    """The main findings, one for each test and metric."""
    return [
        sentence
        for test in results.tests
        for metric in metrics.judged(test["kind"])
        if (sentence := _sentence(results, test["name"], metric))
    ]


def _sentence(results: Results, test: str, metric: str) -> str:
    found = [one for label in results.candidates if (one := results.comparisons.get((label, test, metric))) is not None]
    if not found:
        return ""
    parts = []
    for verdict in (Verdict.FASTER, Verdict.EQUIVALENT, Verdict.SLOWER, Verdict.INCONCLUSIVE):
        alike = [one for one in found if one.verdict is verdict]
        if alike:
            parts.append(f"{word(alike[0])} {series([f'{one.candidate} ({ratio(one.ratio)})' for one in alike])}")
    return f"{name(results, test, metric)} in {test}, against {results.baseline}: {'; '.join(parts)}."
