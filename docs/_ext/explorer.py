"""Create the explorer, a static page with every figure of the committed summary.csv files, drawn in the browser.

vl-convert contains Vega-Lite, Vega and vega-embed, in the versions that draw all other charts. The build writes them to
_static, so the page doesn't load anything from other sites.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import vl_convert
from docutils import nodes
from reference_runs import REFERENCES, Reference, References
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from loadtests.report.charts import palette
from loadtests.report.formats.render import VEGA_LITE
from loadtests.trials import readings

FORM = """
<style>#explorer-form label { display: inline-block; box-sizing: border-box; max-width: 100%; padding: 0 1rem .4rem 0; }
#explorer-form select, #explorer-form input { max-width: 100%; }</style>
<form id="explorer-form" autocomplete="off">
<p><label>Study <select name="run"></select></label> <label>Test <select name="test"></select></label>
<label>Figure <select name="metric"></select></label></p>
<p><label>Setups that contain <input name="filter" placeholder="all; or gunicorn, asgi" size="22"></label>
<label>Sort by <select name="sort"><option value="value">figure<option value="setup">name
<option value="interface">interface</select></label></p>
<details><summary>Pick setups</summary><div id="explorer-setups"></div></details>
<p id="explorer-about" role="status"></p>
<div id="explorer-chart" style="overflow-x: auto"></div>
<div id="explorer-table" style="overflow-x: auto"></div>
</form>
"""


def data(references: References) -> dict[str, Any]:
    """Return the rows of all runs, the metrics and the colours. The newest run of each study is first.

    Each row contains its figures by metric, with the limits of their intervals.
    """
    runs = {run.name: run for runs in references.studies.values() for run in runs}
    metrics: dict[str, tuple[str, str, bool]] = {}
    for run in runs.values():
        for metric in readings.every(run.results.roles, run.results.uncharged):
            label = metric.label.replace("{latency}", "response time")
            metrics[metric.name] = (label, metric.unit, metric.more_is_better)
    colours = {name: [look.colour, palette.DARK[look.colour]] for name, look in palette.KINDS.items()}
    known = {name: about(run, references, metrics) for name, run in runs.items()}
    return {"runs": known, "metrics": metrics, "colours": colours}


def about(run: Reference, references: References, metrics: dict[str, Any]) -> dict[str, Any]:
    """Return the title, link, machine, tests and rows of a run."""
    setups = run.results.record.setups
    with (references.folder / run.name / "summary.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            {
                "setup": row["label"],
                "test": row["test"],
                "interface": palette.kind(setups[row["label"]].interface),
                "failed": int(row["failed"]),
                "figures": {
                    name: [float(row[name]), *(float(row[f"{name}_{end}"] or "nan") for end in ("low", "high"))]
                    for name in metrics
                    if row.get(name)
                },
            }
            for row in csv.DictReader(file)
        ]
    return {
        "title": f"{run.title} ({run.date})",
        "where": f"{run.name}/index.html",
        "machine": run.machine,
        "tests": {test.name: [test.description, test.judged[0].name] for test in run.results.tests},
        "rows": rows,
    }


def body(references: References, scripts: str) -> str:
    """Return the page's form, its data, and links to the scripts in the folder ``scripts``, as HTML."""
    text = json.dumps(data(references)).replace("NaN", "null").replace("</", "<\\/")
    sources = "".join(f'<script src="{scripts}/{name}.js" defer></script>' for name in ("vega", "explorer"))
    return f'{FORM}<script type="application/json" id="explorer-data">{text}</script>{sources}'


class Explorer(SphinxDirective):
    """Insert the form, the chart and the table."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        return [nodes.raw("", body(REFERENCES, "../_static"), format="html")]


def write_vega(folder: Path) -> None:
    """Write vega.js, a bundle that defines ``vegaEmbed``, unless the file exists."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "vega.js").is_file():
        bundle = vl_convert.javascript_bundle(snippet="window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
        (folder / "vega.js").write_text(f'(() => {{ "use strict"; {bundle} }})();', encoding="utf-8")


def add_vega(app: Sphinx, failed: Exception | None) -> None:
    if failed is None and app.builder.format == "html":
        write_vega(Path(app.outdir) / "_static")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("explorer", Explorer)
    app.connect("build-finished", add_vega)
    return {"parallel_read_safe": True}
