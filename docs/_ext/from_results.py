"""Brings what was measured and simulated into the documentation.

results/reference-*/ is copied to docs/results/reference-*/: a copy, not a link, because links do not survive every
shared folder and archive. A run that is no longer in results/ goes from here as well.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RESULTS = Path(__file__).resolve().parents[2] / "results"
PAGE_AND_WHAT_IT_SHOWS = ("index.rst", "report.html", "summary.csv", "charts")


def copy_reference_runs(app: Sphinx) -> None:
    """Makes docs/results/ agree with results/. What did not change keeps its time, so Sphinx skips it."""
    target = Path(app.srcdir) / "results"
    runs = {page.parent.name: page.parent for page in RESULTS.glob("reference-*/index.rst")}
    for old in target.glob("reference-*"):
        if old.name not in runs:
            shutil.rmtree(old)
    for name, run in runs.items():
        for part in PAGE_AND_WHAT_IT_SHOWS:
            if (run / part).is_dir():
                shutil.copytree(run / part, target / name / part, dirs_exist_ok=True)
            elif (run / part).is_file():
                (target / name).mkdir(parents=True, exist_ok=True)
                shutil.copy2(run / part, target / name / part)


def copy_html_reports(app: Sphinx, failed: Exception | None) -> None:
    """Puts each run's report.html beside its page."""
    if failed is None and app.builder.format == "html":
        for report in (Path(app.srcdir) / "results").glob("reference-*/report.html"):
            shutil.copy2(report, Path(app.outdir) / "results" / report.parent.name)


class ReferenceRuns(SphinxDirective):
    """The committed runs, the newest first: the page of each, and its report in one file."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        folder = Path(self.env.srcdir) / "results"
        names = sorted((page.parent.name for page in folder.glob("reference-*/index.rst")), reverse=True)
        if not names:
            return self.parse_text_to_nodes("None is committed yet.")
        lines = [".. toctree::", "   :maxdepth: 1", "", *(f"   {name}/index" for name in names), ""]
        lines += ["Each as one file to click in and to send:", ""]
        lines += [f"- `{name} <{name}/report.html>`__" for name in names]
        return self.parse_text_to_nodes("\n".join(lines))


class SimulationTables(SphinxDirective):
    """The tables in docs/statistics, which the simulation of the statistics wrote."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        # In reverse, verdicts come first and capacity last.
        tables = sorted((Path(self.env.srcdir) / "statistics").glob("*.inc"), reverse=True)
        texts = [table.read_text(encoding="utf-8") for table in tables]
        return self.parse_text_to_nodes("\n".join(texts) or "None is committed yet.")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", copy_reference_runs)
    app.connect("build-finished", copy_html_reports)
    app.add_directive("reference-runs", ReferenceRuns)
    app.add_directive("simulation-tables", SimulationTables)
    return {"parallel_read_safe": True}
