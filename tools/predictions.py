"""Predict the throughput of views before they are measured, and compare runs with the predictions.

Use the program with pages of real projects. The predictions are committed first, so the model can't be fitted to the
measurement:

1. ``python -m tools.predictions predict home=28 search=8 > FILE`` writes the predictions of the shipped model. The
   numbers are the CPU time in ms of a request to each page on gunicorn-gthread.
2. Commit FILE.
3. ``python -m loadtests run --app PROJECT --path PAGE --output RUN``, for each page, on an idle machine.
4. ``python -m tools.predictions errors FILE home=RUN search=RUN`` prints the mean logarithmic error for each interface.

The column ``predicted`` applies to pages without queries. ``many_queries`` includes the largest growth of a view's CPU
time that was measured under ASGI.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import log
from pathlib import Path
from statistics import mean

from loadtests import setups
from loadtests.analyse import cost_model as models
from loadtests.analyse.results import Results
from loadtests.plan.kinds.requests import RPS, Throughput
from loadtests.records.run.folder import Run

COLUMNS = ("page", "baseline_ms", "setup", "interface", "predicted", "many_queries")


def predictions(pages: Iterable[tuple[str, float]]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each page and each setup of the shipped model. Pages are pairs of a name and a CPU time in ms."""
    model = models.shipped()
    for page, baseline_ms in pages:
        for label in model.added_ms:
            kind = setups.known()[label].interface
            growth = model.asgi_growth if kind == "asgi" else 0.0
            view_ms = baseline_ms - model.baseline_ms
            few, many = (model.relative(label, view_ms, extra).value for extra in (0.0, growth))
            yield page, f"{baseline_ms:g}", label, kind, f"{few:.3f}", f"{many:.3f}"


def errors(rows: Iterable[dict[str, str]], runs: dict[str, Path]) -> Iterator[str]:
    """Yield a line for each prediction that was measured, and the mean logarithmic error for each interface."""
    found = defaultdict(list)
    opened = {page: Results(Run.open(path)) for page, path in runs.items()}
    for row in rows:
        results = opened.get(row["page"])
        measured = _measured(results, row["setup"]) if results else None
        if measured is None:
            continue
        error = log(float(row["predicted"]) / measured)
        found[row["interface"]].append(abs(error))
        yield f"{row['page']} {row['setup']}: predicted {row['predicted']}, measured {measured:.3f}, error {error:+.3f}"
    for interface, values in found.items():
        yield f"{interface}: mean log error {mean(values):.3f} of {len(values)}"


def _measured(results: Results, setup: str) -> float | None:
    """Return the throughput relative to the baseline in the first throughput test, or None if either is missing."""
    labels = {entry.setup: entry.label for entry in reversed(results.study.entries)}
    test = next(test.name for test in results.tests if test.kind is Throughput)
    both = [results.estimate(labels.get(name, ""), test, RPS.name) for name in (setup, models.BASELINE)]
    return None if both[0] is None or both[1] is None else both[0].value / both[1].value


def main(arguments: list[str]) -> None:
    match arguments:
        case ["predict", *pages] if pages:
            named = [(name, float(ms)) for name, _, ms in (page.partition("=") for page in pages)]
            csv.writer(sys.stdout, lineterminator="\n").writerows([COLUMNS, *predictions(named)])
        case ["errors", file, *runs] if runs:
            folders = {name: Path(path) for name, _, path in (run.partition("=") for run in runs)}
            with open(file, encoding="utf-8", newline="") as rows:
                print("\n".join(errors(csv.DictReader(rows), folders)))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
