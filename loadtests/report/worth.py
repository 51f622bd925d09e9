"""Describe how servers change the CPU time of the measured view, and whether the reference run predicts the change."""

from __future__ import annotations

from loadtests.analyse import cost_model as models
from loadtests.analyse.cost_model import CostModel, Ranged
from loadtests.analyse.results import Results
from loadtests.formatting import number, percent, series
from loadtests.plan.kinds.requests import THROUGHPUT

MOST_KNOWN = 100.0  # If the CPU time could be this many times higher, the interval is useless.
NOT_KNOWN = "needs more blocks for a result"


def sentence(results: Results) -> str:
    """Describe how the CPU time of the view under full load changes with the cheapest and the most expensive server.

    Returns:
        The sentences about the first throughput test, or an empty string if the run has no such test or figures.
    """
    test = next((test for test in results.tests if test.kind is THROUGHPUT), None)
    model = models.cost_model(results, test.name) if test else None
    if test is None or model is None or not model.added_ms:
        return ""
    view = "Your view takes" if len(test.requests) == 1 else "An average request of your mix takes"
    ordered = sorted(model.added_ms, key=lambda label: model.added_ms[label].value)
    ends = list(dict.fromkeys((ordered[0], ordered[-1])))
    said = (_change(model, model.added_ms[label]) if _is_known(model, label) else NOT_KNOWN for label in ends)
    changes = series([f"{label} {change}" for label, change in zip(ends, said, strict=True)])
    return (
        f"{view} {number(model.baseline_ms)} ms of CPU time. Compared with {models.BASELINE}, {changes}; "
        f"these intervals aren't adjusted for the other comparisons of the page.{_agreement(results, model, ends)}"
    )


def _change(model: CostModel, added: Ranged) -> str:
    """Describe a change, such as ``saves 2% (1% to 3%)``. If the interval contains 0, the change isn't significant."""
    low, value, high = (end / model.baseline_ms for end in (added.low, added.value, added.high))
    if low <= 0 <= high:
        return f"doesn't differ significantly ({low:+.0%} to {high:+.0%})"
    ends = sorted((abs(low), abs(high)))
    return f"{'saves' if value < 0 else 'costs'} {percent(abs(value))} ({percent(ends[0])} to {percent(ends[1])})"


def _is_known(model: CostModel, label: str) -> bool:
    return model.added_ms[label].high <= MOST_KNOWN * model.baseline_ms


def _agreement(results: Results, model: CostModel, labels: list[str]) -> str:
    """Describe whether the shipped cost model, scaled to this machine's speed, predicts the changes.

    Return an empty string if the model or the calibration is unknown for these setups.
    """
    reference = models.shipped()
    setups = {entry.label: entry.setup for entry in results.study.entries if not entry.variant}
    known = [label for label in labels if setups.get(label) in reference.added_ms and _is_known(model, label)]
    if not known or model.calibration_s is None or reference.calibration_s is None:
        return ""
    speed = model.calibration_s / reference.calibration_s
    view_ms = max(0.0, model.baseline_ms - reference.baseline_ms * speed)
    ranges, differing = [], []
    for label in known:
        predicted, measured = reference.added_ms[setups[label]].scaled(speed, models.SPEED_ERROR), model.added_ms[label]
        growth_ms = reference.asgi_growth * view_ms if results.setup(label).interface == "asgi" else 0.0
        # The model's view needs more CPU time than a request for static text, so it can predict a negative time.
        low, high = max(predicted.low, -model.baseline_ms), predicted.high + growth_ms
        ranges.append(f"{label} {low / model.baseline_ms:+.0%} to {high / model.baseline_ms:+.0%}")
        if measured.high < low or high < measured.low:
            differing.append(label)
    outcome = f"The measurement differs for {series(differing)}" if differing else "The measurement agrees"
    return f" The run {reference.source} predicts {series(ranges)}. {outcome}."
