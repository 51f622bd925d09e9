"""Copy the committed runs and the simulations into the documentation.

The folders results/reference-*/ are copied to docs/results/, because some shared folders and archives don't support
symbolic links. The module also writes a page for each study, docs/results/<study>.rst. If a folder is removed from
results/, its copy is removed, too.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Iterator
from itertools import filterfalse
from pathlib import Path

import repetition
from docutils import nodes
from measured_roles import ROLES
from reference_runs import REFERENCES, Reference
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from loadtests.formatting import plural
from loadtests.report.formats import html, rest
from loadtests.report.view import Page, Section

FINDINGS = Path(__file__).resolve().parents[1] / "findings"  # texts about studies, with the roles of measured_roles.py
RAW_DATA = ("run.json", "trials", "report.html")
NAMED = re.compile(r"^\.\. reference-studies:: (.+)$", re.MULTILINE)
GENERATED = ".. Written by docs/_ext/from_results.py from the runs in results/."


def bring_results(app: Sphinx) -> None:
    """Update docs/results/ from results/. Don't write unchanged files, so that Sphinx skips these files."""
    target = Path(app.srcdir) / "results"
    pages = {target / f"{study}.rst": study_page(runs) for study, runs in REFERENCES.studies.items()}
    for old in target.glob("*.rst"):
        if old not in pages and old.read_text(encoding="utf-8").startswith(GENERATED):
            old.unlink()
    for page, text in pages.items():
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
    names = {path.name for path in REFERENCES.folders}
    for folder in target.glob("reference-*"):
        if folder.name not in names:
            shutil.rmtree(folder)
    for path in REFERENCES.folders:
        raw = () if path in REFERENCES.profiles else RAW_DATA
        shutil.copytree(path, target / path.name, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*raw))


def add_linked_files(app: Sphinx, failed: Exception | None) -> None:
    """Write the report.html of each run next to its page, and copy the flame graphs and samples of each profile."""
    if failed is not None or app.builder.format != "html":
        return
    out = Path(app.outdir) / "results"
    for path in REFERENCES.profiles:
        pages = shutil.ignore_patterns("*.rst", "*.html")
        shutil.copytree(path, out / path.name, dirs_exist_ok=True, ignore=pages)
    for run in (run for runs in REFERENCES.studies.values() for run in runs):
        charts = REFERENCES.folder / run.name / "charts"
        drawings = {chart.name: (charts / f"{chart.name}.svg").read_text("utf-8") for chart in run.page.charts}
        (out / run.name).mkdir(parents=True, exist_ok=True)
        (out / run.name / "report.html").write_text(html.html(run.page, drawings), encoding="utf-8")


def study_page(runs: list[Reference]) -> str:
    """Return the page of a study: the findings, verdicts and charts of the newest run, and a list of all runs."""
    newest = runs[0]
    folder = f"results/{newest.name}"
    which = "the only reference run" if len(runs) == 1 else f"the newest of {len(runs)} reference runs"
    about = (
        f"This is {which} of this study, from {newest.date}, on {rest.escape(newest.machine)}. "
        f":doc:`Its page <{newest.name}/index>` contains all tables, and `report.html <{newest.name}/report.html>`__ "
        "is an interactive version in one file. The raw data of its "
        f"{plural(len(newest.results.trials), 'trial')}, including histograms, is in ``{folder}/trials/``, and the "
        f"means and intervals are in ``{folder}/summary.csv``. See :ref:`cannot-tell` for the limits of the results."
    )
    report = rest.rst(digest(newest.page)).replace("figure:: charts/", f"figure:: {newest.name}/charts/")
    lines = [GENERATED, "", *heading(rest.escape(newest.title), "#"), ""]
    in_words = (
        [f".. include:: /findings/{newest.study}.inc", ""] if (FINDINGS / f"{newest.study}.inc").is_file() else []
    )
    lines += [rest.escape(newest.page.question), "", *in_words, about, "", report, ""]
    lines += [*heading("All runs of this study", "="), "", ".. toctree::", "   :hidden:", ""]
    lines += [*(f"   {run.date} <{run.name}/index>" for run in runs), ""]
    return "\n".join([*lines, *table_of(runs), ""])


def digest(page: Page) -> Page:
    """Return a short report for the study's page.

    The report contains the verdicts, charts, invalid and skipped trials, and the commands that repeat the run.
    """
    parts = tuple(part for section in page.sections if (part := _shown(section)))
    return dataclasses.replace(page, title="Results", question="", sections=parts)


def _shown(section: Section) -> Section | None:
    if section.name in ("verdicts", "sweep"):
        return section
    if section.charts or section.name in ("invalid", "repeat"):
        paragraphs = () if section.charts else section.paragraphs
        return dataclasses.replace(section, paragraphs=paragraphs, tables=(), folded=())
    return None


def table_of(runs: list[Reference]) -> Iterator[str]:
    """Yield a reST table of a study's runs and their results, with the newest run first."""
    yield from [".. list-table::", "   :header-rows: 1", "   :widths: 15 25 60", ""]
    yield from ["   * - run", "     - machine", "     - result"]
    for run in runs:
        yield f"   * - :doc:`{run.date} <{run.name}/index>`"
        yield f"     - {rest.escape(run.machine)}"
        yield f"     - {rest.escape(run.verdict)}"


def heading(text: str, line: str) -> list[str]:
    """Return a title and its underline."""
    return [text, line * len(text)]


class FromResults(SphinxDirective):
    """Insert the reST that `lines` yields. Every build reads the page again."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        return self.parse_text_to_nodes("\n".join(self.lines()))

    def lines(self) -> Iterator[str]:
        raise NotImplementedError


class ReferenceStudies(FromResults):
    """Insert a table of studies, with the result and the date of their newest reference run.

    Without names, the table contains the studies that no other table of the page contains.
    """

    optional_arguments = 1
    final_argument_whitespace = True

    def lines(self) -> Iterator[str]:
        page = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        elsewhere = {name for line in NAMED.findall(page) for name in line.split()}
        names = (
            self.arguments[0].split() if self.arguments else [*filterfalse(elsewhere.__contains__, REFERENCES.studies)]
        )
        shown = [name for name in names if name in REFERENCES.studies]
        if not shown:
            yield "These studies have no committed run." if self.arguments else "All studies are listed above."
            return
        yield from [".. toctree::", "   :hidden:", "", *(f"   {study}" for study in shown), ""]
        yield from [".. list-table::", "   :header-rows: 1", "   :class: stacked", "   :widths: 22 58 20", ""]
        yield from ["   * - study", "     - result", "     - newest run"]
        for study in shown:
            newest = REFERENCES.studies[study][0]
            yield f"   * - :doc:`{study}`"
            yield f"     - {rest.escape(newest.verdict)}"
            yield f"     - {newest.date}, {rest.escape(newest.machine)}"


class ReferenceProfiles(FromResults):
    """Insert links to the pages of the committed profiles."""

    def lines(self) -> Iterator[str]:
        if not REFERENCES.profiles:
            yield "No profile is committed yet."
            return
        yield from [".. toctree::", "   :maxdepth: 1", ""]
        yield from (f"   {path.name}/index" for path in REFERENCES.profiles)


class RepetitionOf2016(FromResults):
    """Insert a table that compares the load test of 2016 with its repetition on the same stack."""

    def lines(self) -> Iterator[str]:
        if repetition.STUDY not in REFERENCES.studies:
            yield "No run of this study is committed yet."
            return
        newest, *_ = REFERENCES.studies[repetition.STUDY]
        page = f":doc:`the run of {newest.date} </results/{repetition.STUDY}>`"
        yield from repetition.table(newest.results)
        yield from ["", f"From {page}, {rest.escape(newest.machine)}."]


class RunChart(FromResults):
    """Insert a chart of a study's newest run. The arguments are ``STUDY CHART``."""

    required_arguments = 2

    def lines(self) -> Iterator[str]:
        study, name = self.arguments
        try:
            REFERENCES.newest(study)
            newest = REFERENCES.studies[study][0]
            [chart] = (chart for chart in newest.page.charts if chart.name == name)
        except (LookupError, ValueError) as error:
            raise self.error(f"{study} has no chart {name}: {error}") from None
        yield from [f".. figure:: /results/{newest.name}/charts/{name}.svg", f"   :alt: {rest.escape(chart.alt)}"]


class Machines(FromResults):
    """Insert a table of machines, with the studies whose newest run was made on each machine."""

    def lines(self) -> Iterator[str]:
        made: dict[str, list[str]] = {}
        for study, [newest, *_] in REFERENCES.studies.items():
            made.setdefault(newest.machine, []).append(f":doc:`{study} </results/{study}>` ({newest.date})")
        yield from [".. list-table::", "   :header-rows: 1", "   :widths: 25 75", ""]
        yield from ["   * - machine", "     - newest runs of studies"]
        for machine, studies in made.items():
            yield from [f"   * - {rest.escape(machine)}", f"     - {', '.join(studies)}"]


class SimulationTables(SphinxDirective):
    """Insert the tables in docs/statistics, which ``make simulate`` writes."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        # The reverse order of names puts the verdicts first (ways of measuring, then studies) and the capacity last.
        tables = sorted((Path(self.env.srcdir) / "statistics").glob("*.inc"), reverse=True)
        texts = [table.read_text(encoding="utf-8") for table in tables]
        return self.parse_text_to_nodes("\n".join(texts) or "No table is committed yet.")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", bring_results)
    app.connect("build-finished", add_linked_files)
    app.add_directive("reference-studies", ReferenceStudies)
    app.add_directive("reference-profiles", ReferenceProfiles)
    app.add_directive("repetition-of-2016", RepetitionOf2016)
    app.add_directive("run-chart", RunChart)
    app.add_directive("machines", Machines)
    app.add_directive("simulation-tables", SimulationTables)
    for name, role in ROLES.items():
        app.add_role(name, role)
    return {"parallel_read_safe": True}
