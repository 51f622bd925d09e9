"""The verdicts in words: the tables, and how to read them."""

from __future__ import annotations

from typing import Any

from loadtests.analyse import metrics
from loadtests.analyse.compare.within import Comparison
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import MOST_BLOCKS, Verdict
from loadtests.report import order
from loadtests.report.view import Cell, Table
from loadtests.report.words import DASH, plural, ratio, ratio_interval, series

TONES = {Verdict.FASTER: "good", Verdict.SLOWER: "bad"}
NAMES = {"rps": "requests per second", metrics.CAPACITY: "capacity", metrics.CPU: "CPU per request"}
SHORT = {"rps": "requests/s", metrics.CAPACITY: "capacity", metrics.CPU: "CPU"}


def name(results: Results, test: str, metric: str) -> str:
    """What a judged metric is called."""
    return NAMES.get(metric) or f"{metric.removesuffix('_ms')} {results.latency(test)}"


def word(found: Comparison) -> str:
    """The verdict; for what costs and does not wait, in words for money."""
    costs = {Verdict.FASTER: "cheaper", Verdict.SLOWER: "dearer"} if found.metric == metrics.CPU else {}
    return costs.get(found.verdict, found.verdict.value)


def remark(found: Comparison) -> str:
    """What a reader needs beside the verdict: that noise alone may make it, or how many blocks would settle it."""
    parts = ["inside the noise"] if _noisy(found) else []
    if found.blocks_needed is not None:
        parts.append(f"{many_blocks(found.blocks_needed)} blocks would probably settle it")
    return "; ".join(parts)


def many_blocks(needed: int) -> str:
    """So many blocks, or over the most that are worth a thought."""
    return f"over {MOST_BLOCKS}" if needed >= MOST_BLOCKS else str(needed)


def _short_remark(found: Comparison) -> str:
    parts = ["noise"] if _noisy(found) else []
    if found.blocks_needed is not None:
        parts.append(f"{many_blocks(found.blocks_needed)} blocks")
    return {"noise": "inside the noise"}.get(", ".join(parts), ", ".join(parts))


def _noisy(found: Comparison) -> bool:
    return found.inside_noise and found.verdict is not Verdict.EQUIVALENT


def table(results: Results, test: dict[str, Any]) -> Table:
    """A row for each metric and setup, the best first."""
    rows = []
    judged = metrics.judged(test["kind"])
    # A metric that no trial knows is said once, and not in a row for each setup.
    compared = {metric for _, asked, metric in results.comparisons if asked == test["name"]}
    known = [metric for metric in judged if metric in compared] or judged
    unknown = [name(results, test["name"], metric) for metric in judged if metric not in known]
    for metric in known:
        for label in order.by_ratio(results, test["name"], metric):
            found = results.comparisons.get((label, test["name"], metric))
            named = Cell(name(results, test["name"], metric), short=SHORT.get(metric, metric.removesuffix("_ms")))
            rows.append((Cell(label), named, *_fields(found)))
    return Table(
        f"verdicts-{test['name']}",
        f"{test['name']}: against {results.baseline}",
        ("setup", "metric", "ratio", "verdict", "remark", "blocks"),
        tuple(rows),
        note=_noise(results, test)
        + (f" Not known, for the trials are too short: {series(unknown)}." if unknown else ""),
        numeric=frozenset({2, 5}),
        optional=(5, 4),
        grouped=1,
    )


def _fields(found: Comparison | None) -> tuple[Cell, ...]:
    if found is None:
        return Cell(DASH, tone="muted"), Cell("no block has both", tone="muted"), Cell(""), Cell("0")
    muted = found.inside_noise or found.verdict in (Verdict.INCONCLUSIVE, Verdict.EQUIVALENT)
    tone = "muted" if muted else TONES[found.verdict]
    within = ratio_interval(found) or "open interval"
    short = f"{ratio(found.ratio)} ({within.replace('×', '')})"
    return (
        Cell(ratio(found.ratio), within, short, tone="muted" if muted else ""),
        Cell(word(found), tone=tone),
        Cell(remark(found), short=_short_remark(found), tone="muted"),
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
        f"where it lies within ±{delta:.0%}, otherwise inconclusive. Rows are in the order of the ratio, which alone "
        "says nothing: neighbours may be the same."
    )
    if family:
        text += f" The intervals hold together with 95% for all {plural(family, 'comparison')} of the run."
    return (text,)
