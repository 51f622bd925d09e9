"""Predict the throughput of a view on each server from the CPU time that the server adds to a request.

A request costs ``v + a`` ms of CPU time. ``v`` is the view's own CPU time. ``a`` is the CPU time of the server,
Django's handler, the middleware and the resolver, measured with a view that does nothing. ``b`` is the value of ``a``
for the baseline. If the servers' cores are full, a server answers ``(v + b) / (v + a)`` times as many requests as the
baseline.

All times are valid for the machine's speed during the run. Times from another run are scaled by the ratio of the
calibration times of both runs.

``HeldOut`` compares the model's predictions with measured values. Under ASGI, a view with many queries costs more than
``v`` and doesn't fill its core. ``growth`` is this extra time as a share of ``v``. Intervals cover the noise between
trials, not model errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import exp, log
from statistics import mean, median

import msgspec

from loadtests.analyse.compare.paired import Row
from loadtests.analyse.intervals import CONFIDENCE
from loadtests.analyse.results import Results
from loadtests.files import ROOT
from loadtests.plan.cost_unit import CPU
from loadtests.plan.entries import alike
from loadtests.plan.kinds.requests import RPS
from loadtests.trials.observations import Observations

BASELINE = "gunicorn-gthread"
SHIPPED = ROOT / "loadtests" / "analyse" / "reference_costs.json"


class Ranged(msgspec.Struct, frozen=True):
    """A value and the limits of its interval."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float, error: float = 1.0) -> Ranged:
        """Return the value times ``factor``, with an interval that is wider by the factor ``error`` at each end."""
        ends = [end * factor * by for end in (self.low, self.high) for by in (1 / error, error)]
        return Ranged(self.value * factor, min(ends), max(ends))


class CostModel(msgspec.Struct, frozen=True):
    """The CPU time that each server adds to a request.

    Args:
        source: The name of the study and the date of the run.
        baseline_ms: ``b``.
        added_ms: ``a - b`` by label, with simultaneous 95% intervals from ratios within blocks.
        partly_idle: The labels of setups that didn't keep the servers' cores fully busy, so that ``a`` isn't known for
            these setups.
        calibration_s: The median time of the calibration loop during the run, or None if it wasn't measured.
        asgi_growth: The largest ``growth`` that was measured under ASGI.
    """

    source: str
    baseline_ms: float
    added_ms: dict[str, Ranged]
    partly_idle: tuple[str, ...] = ()
    calibration_s: float | None = None
    asgi_growth: float = 0.0

    def relative(self, label: str, view_ms: float, growth: float = 0.0) -> Ranged:
        """Return the predicted throughput of a view relative to the baseline, if the cores are full."""
        base_ms, added = view_ms + self.baseline_ms, self.added_ms[label]
        at = [base_ms / (base_ms + ms + growth * view_ms) for ms in (added.value, added.high, added.low)]
        return Ranged(*at)


class HeldOut(msgspec.Struct, frozen=True):
    """The prediction for a view that the model doesn't include, with the measured values.

    Args:
        view_ms: ``v``, derived from the baseline's CPU time for a request to this view.
        predicted: The predicted throughput relative to the baseline.
        by_cpu: The baseline's measured CPU time divided by the server's CPU time.
        by_rate: The server's measured requests per second divided by the baseline's requests per second.
        growth: The core time that the view needed in addition to the prediction, as a share of ``v``.
    """

    label: str
    interface: str
    test: str
    view_ms: float
    predicted: Ranged
    by_cpu: float
    by_rate: float
    growth: float

    @property
    def error(self) -> float:
        """The log ratio of the predicted to the measured throughput."""
        return log(self.predicted.value / self.by_rate)

    @property
    def cpu_error(self) -> float:
        """The log ratio of the predicted throughput to the throughput that the measured CPU times imply."""
        return log(self.predicted.value / self.by_cpu)


def baseline_of(results: Results) -> str | None:
    """Return the first label of the baseline's setup, or None if the run doesn't contain this setup."""
    return next((entry.label for entry in results.study.entries if entry.setup == BASELINE and not entry.variant), None)


def cost_model(results: Results, test: str) -> CostModel | None:
    """Return the model for a closed-loop test, or None if the baseline's CPU time with full cores isn't known."""
    baseline = baseline_of(results)
    samples = Observations(results.observations).samples.get((test, CPU.name), {})
    full = {label: sample for label, sample in samples.items() if not results.is_lower_bound(label, test)}
    if baseline not in full:
        return None
    entries = {entry.label: entry for entry in results.study.entries}
    copies = [label for label in full if alike(entries[label], entries[baseline])]
    candidates = [label for label in full if label not in (*copies, results.aa_copy)]
    row = Row(full, copies)
    base_ms = exp(mean(mean(full[label].values()) for label in copies))
    added = {}
    for label in candidates:
        found = row.against_baseline(label).interval((1 - CONFIDENCE) / len(candidates))
        added[label] = Ranged(*(base_ms * (exp(end) - 1) for end in (found.estimate, found.low, found.high)))
    idle = tuple(label for label in samples if label not in full and label != results.aa_copy)
    source = f"{results.study.name} of {results.record.created[:10]}"
    return CostModel(source, base_ms, added, idle, calibration_s(results))


def held_out(model: CostModel, results: Results, tests: list[str]) -> Iterator[HeldOut]:
    """Yield a prediction for each server in each of ``tests``. The model is from another test of the same run."""
    baseline = baseline_of(results)
    assert baseline is not None
    for test in tests:
        base_ms, base_rate = _mean(results, baseline, test, CPU.name), _mean(results, baseline, test, RPS.name)
        view_ms = max(0.0, base_ms - model.baseline_ms)
        for label in model.added_ms:
            rate = _mean(results, label, test, RPS.name) / base_rate
            expected_ms = base_ms + model.added_ms[label].value
            growth = (base_ms / rate - expected_ms) / view_ms if view_ms else 0.0
            yield HeldOut(
                label,
                results.setup(label).interface,
                test,
                view_ms,
                model.relative(label, base_ms - model.baseline_ms),
                base_ms / _mean(results, label, test, CPU.name),
                rate,
                growth,
            )


def shipped() -> CostModel:
    """Return the model of the newest reference run, from the file that ``docs/_ext/readme.py`` writes."""
    return msgspec.json.decode(SHIPPED.read_bytes(), type=CostModel)


def encoded(model: CostModel) -> str:
    """Return the model in the format of the shipped file."""
    return json.dumps(_rounded(msgspec.to_builtins(model)), indent=1) + "\n"


def with_growth(model: CostModel, growth: float) -> CostModel:
    """Return a copy of the model with ``growth`` as the largest growth under ASGI."""
    return msgspec.structs.replace(model, asgi_growth=growth)


def calibration_s(results: Results) -> float | None:
    """Return the median time of the run's calibration loop, or None if it wasn't measured."""
    found = [one for trial in results.trials for one in trial.evidence.calibration_s]
    return median(found) if found else None


def _mean(results: Results, label: str, test: str, metric: str) -> float:
    found = results.estimate(label, test, metric)
    if found is None:
        raise LookupError(f"{results.record.name}: {label} has no {metric} in {test}")
    return found.value


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value
