"""Create the cost model from the newest committed runs: the CPU time that each server adds, and the predictions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec
from reference_runs import REFERENCES

from loadtests.analyse import cost_model as models
from loadtests.analyse.cost_model import CostModel, HeldOut
from loadtests.plan.cost_unit import CPU
from loadtests.plan.kinds.requests import RPS

STUDY, TEST = "matrix", "throughput"
HELD_OUT = "techempower"
# For each study: the test whose view determines the model, and the tests whose views the model predicts.
HELD_OUT_TESTS = {
    HELD_OUT: ("json", ["db", "fortunes", "queries", "updates"]),
    "view-cpu": ("none", ["cpu-1", "cpu-5", "cpu-20", "cpu-50"]),
}
TEMPLATE = ("interpreters", "uvicorn-3.11", "gthread-3.11")  # a study of a page with a template, and two of its setups
SHOWN = ("wsgi", "asgi")  # HTTP over a channel layer has its own chart


class View(msgspec.Struct, frozen=True):
    """A typical view, with its pages' minimum and maximum CPU time, scaled to the model's machine."""

    name: str
    low_ms: float
    high_ms: float


# Three pages of Wagtail's demo, measured on an Intel Xeon in a review of this project. The raw data isn't committed.
WAGTAIL = View("pages of Wagtail's demo", 8.0, 35.0)


@cache
def model() -> CostModel:
    """Return the cost model of the newest run.

    The model also contains the largest growth of ASGI's cost that was measured with a held-out view.

    Raises:
        LookupError: If the run doesn't contain the CPU time of the baseline with a full core.
    """
    found = models.cost_model(REFERENCES.newest(STUDY), TEST)
    if found is None:
        raise LookupError(f"{STUDY}: the CPU time of {models.BASELINE} with a full core is missing")
    return models.with_growth(found, max(one.growth for one in held_out() if one.interface == "asgi"))


@cache
def held_out(study: str = HELD_OUT) -> tuple[HeldOut, ...]:
    """Return predictions for the held-out views of a study, based on a model of the study's empty view."""
    run = REFERENCES.newest(study)
    empty_view, tests = HELD_OUT_TESTS[study]
    found = models.cost_model(run, empty_view)
    if found is None:
        raise LookupError(f"{study}: the CPU time of {models.BASELINE} with a full core is missing")
    return tuple(models.held_out(found, run, tests))


def views() -> tuple[View, ...]:
    """Return typical views, sorted by the CPU time that they need."""
    times = {one.test: one.view_ms * speed() for one in held_out()}
    names = {"fortunes": "one query, a small template", "queries": "20 queries"}
    template = _template_ms()
    found = [View(name, times[test], times[test]) for test, name in names.items()]
    return (*found, View("a template with 100 rows", template, template), WAGTAIL)


@cache
def speed() -> float:
    """Return the factor that converts times of the held-out run to times of the model's run.

    The factor is the ratio of the CPU times of the two runs' empty views.
    """
    empty = models.cost_model(REFERENCES.newest(HELD_OUT), HELD_OUT_TESTS[HELD_OUT][0])
    assert empty is not None
    return model().baseline_ms / empty.baseline_ms


def _template_ms() -> float:
    """Return the template view's own CPU time, scaled to the model's machine with the calibrations of both runs."""
    run = REFERENCES.newest(TEMPLATE[0])
    found, calibration, own = run.estimate(TEMPLATE[2], TEST, CPU.name), models.calibration_s(run), model()
    assert found is not None
    assert calibration is not None
    assert own.calibration_s is not None
    return found.value * own.calibration_s / calibration - own.baseline_ms


def interface(label: str) -> str:
    """Return the interface of a setup, as recorded in the model's run."""
    return REFERENCES.newest(STUDY).setup(label).interface


def shown() -> list[str]:
    """Return the setups in the chart, from the cheapest to the most expensive."""
    added = model().added_ms
    return sorted((label for label in added if interface(label) in SHOWN), key=lambda label: added[label].value)


def measured() -> Iterator[tuple[float, float, str]]:
    """Yield the CPU time of each measured view, its throughput relative to the baseline, and the server's interface."""
    for one in held_out():
        yield one.view_ms * speed(), one.by_rate, one.interface
    found = [REFERENCES.newest(TEMPLATE[0]).estimate(label, TEST, RPS.name) for label in TEMPLATE[1:]]
    asgi, wsgi = (one.value for one in found if one is not None)
    yield _template_ms(), asgi / wsgi, "asgi"
