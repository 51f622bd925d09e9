"""Write summary.csv: a row for each setup and test, with each metric's mean and interval over blocks, and counts."""

from __future__ import annotations

import csv
import io
import math
import re

from loadtests.analyse.results import Results
from loadtests.formatting import closed
from loadtests.plan import held_connections
from loadtests.trials import readings


def csv_text(results: Results) -> str:
    """Return the text of summary.csv, with the metrics that any test of the run shows, judges or has measured.

    The fields of unknown figures and of open ends of intervals are empty. The column ``unverified`` contains the number
    of trials whose figures appear only in the report.
    """
    names = _metrics(results)
    every = [one for test in results.tests for one in (*held_connections.COUNTED, *test.leading_counts)]
    # The columns have names such as ``database_connections_left_behind``.
    counted = {re.sub(r"\W+", "_", one.called): one for one in every if one.over(results.trials) is not None}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    figures = [*(f"{name}{end}" for name in names for end in ("", "_low", "_high")), *counted]
    writer.writerow(["label", "setup", "test", "trials", "invalid", "unverified", "sent", "ok", "failed", *figures])
    for entry in results.study.entries:
        for test in results.tests:
            if entry.label not in results.labels_in(test.name):
                continue
            cell = results.cells[entry.label, test.name]
            measured = [trial.result for trial in cell.valid if trial.result]
            trials = [len(cell.valid), len(cell.invalid), len(cell.unverified)]
            requests = [
                sum(result.sent for result in measured),
                sum(result.ok for result in measured),
                sum(sum(result.failed.values()) for result in measured),
            ]
            counts = [*trials, *(requests if measured else [""] * len(requests))]
            values = [value for name in names for value in _figures(results, cell.label, cell.test, name)]
            values += ["" if (n := one.over(cell.valid)) is None else f"{n:.6g}" for one in counted.values()]
            writer.writerow([entry.label, entry.setup, test.name, *counts, *values])
    return text.getvalue()


def _metrics(results: Results) -> list[str]:
    shown = {metric.name for test in results.tests for metric in (*test.columns, *test.judged)}
    wanted = shown | {one.metric for one in results.observations}
    return [metric.name for metric in readings.every(results.roles, results.uncharged) if metric.name in wanted]


def _figures(results: Results, label: str, test: str, metric: str) -> list[str]:
    estimate = results.estimate(label, test, metric)
    if estimate is None:
        return ["", "", ""]
    ends = [f"{estimate.low:.6g}", f"{estimate.high:.6g}"] if closed(estimate) else ["", ""]
    if estimate.at_least:
        ends = [f"{estimate.low or estimate.value:.6g}", ""]
    return [f"{estimate.value:.6g}" if math.isfinite(estimate.value) else "", *ends]
