"""summary.csv: a row for each setup and test, with the median and the interval over blocks of each metric."""

from __future__ import annotations

import csv
import io

from loadtests.analyse import metrics
from loadtests.analyse.results import Results
from loadtests.report.words import closed


def csv_text(results: Results) -> str:
    """The table's text. A figure that is not known, and an interval from a single block, are empty."""
    names = metrics.every(results.roles)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    figures = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    writer.writerow(["label", "setup", "test", "trials", "invalid", "sent", "ok", "failed", *figures])
    for entry in results.study["entries"]:
        for test in results.tests:
            cell = results.cells[entry["label"], test["name"]]
            counts = [
                len(cell.valid),
                len(cell.invalid),
                sum(int((trial.result or {}).get("sent") or 0) for trial in cell.valid),
                sum(int((trial.result or {}).get("ok") or 0) for trial in cell.valid),
                sum(sum(metrics.failures(trial).values()) for trial in cell.valid),
            ]
            values = [value for name in names for value in _figures(results, cell.label, cell.test, name)]
            writer.writerow([entry["label"], entry["setup"], test["name"], *counts, *values])
    return text.getvalue()


def _figures(results: Results, label: str, test: str, metric: str) -> list[str]:
    found = results.estimate(label, test, metric)
    if found is None:
        return ["", "", ""]
    ends = [f"{found.low:.6g}", f"{found.high:.6g}"] if closed(found) else ["", ""]
    return [f"{found.median:.6g}", *ends]
