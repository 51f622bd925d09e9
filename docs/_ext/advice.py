"""Render docs/choosing.toml as a table of advice, and a section with a chart for each row.

The rows contain reST with the roles of measured_roles.py, so their figures, like the charts, come from the newest runs.
``readme.py`` writes the same table to README. The build fails if README isn't up to date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt
import evidence
import msgspec
from docutils import nodes
from measured_roles import ROLES, SHORT
from reference_runs import REFERENCES
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from loadtests.formatting import closed, number
from loadtests.report.charts import palette, shared
from loadtests.report.formats import drawing, render
from loadtests.report.tables import in_words

FILE = Path(__file__).resolve().parents[1] / "choosing.toml"
HEADINGS = ("your case", "use", "avoid", "effect (95% interval, adjusted at most within its run)", "evidence")
NEWEST = "Measured on {}"
OTHERS = "Measured on another machine: {}"
UNDECIDED = "The committed runs don't decide these cases"
WIDTH, ROW, BAR, BELOW = 400, 34, 9, 7  # pixels; each bar is below its name, so that the chart fits on a phone
ROOM_OF_TEXT = 1.3  # this factor makes the axis longer than the longest interval, so that the text next to it fits
SIZE = re.compile(r'width="([\d.]+)" height="[\d.]+" ')
ROLE = re.compile(r":([a-z-]+):`([^`]*)`")
THEME = {palette.INK: "foreground-primary", palette.MUTED: "foreground-secondary", palette.GRID: "background-border"}
# Colours that follow the page's light or dark theme. pages.css sets the color-scheme.
PAINTS = {ink: f"var(--color-{name})" for ink, name in THEME.items()}
PAINTS |= {light: f"light-dark({light}, {palette.DARK[light]})" for light in palette.KIND_COLOURS}


class Panel(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A panel of a chart: a metric, or a count of database connections, for several setups in a test.

    Args:
        of: The study, the test and optionally the metric, as ``STUDY TEST [METRIC]``. Without a metric, the panel shows
            the first metric that has verdicts in this test.
        setups: The name of each setup in the chart, by the setup's label in the study.
        title: The heading above the panel, or an empty string.
    """

    of: str
    setups: dict[str, str]
    title: str = ""


class Chart(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A chart, with the title ``finding`` and the axis title ``axis``."""

    name: str
    finding: str
    axis: str
    panels: tuple[Panel, ...]


class Row(Chart, frozen=True, kw_only=True):
    """A case with its advice. README contains the row if ``in_readme`` is true."""

    case: str
    use: str
    avoid: str
    effect: str
    text: str
    evidence: tuple[str, ...]
    in_readme: bool = True


class Advice(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The content of docs/choosing.toml: the rows, and the charts for other pages."""

    row: tuple[Row, ...]
    chart: tuple[Chart, ...]


def read() -> Advice:
    """Return the content of docs/choosing.toml."""
    return msgspec.toml.decode(FILE.read_bytes(), type=Advice)


def rows() -> tuple[Row, ...]:
    """Return the rows of docs/choosing.toml."""
    return read().row


def chart(row: Chart) -> tuple[str, str]:
    """Return the chart as SVG, and its description. Each setup has a bar with an interval, coloured by interface."""
    panels = [(panel, list(_bars(panel))) for panel in row.panels]
    interfaces = list(dict.fromkeys(bar["interface"] for _, bars in panels for bar in bars))
    known = [name for name in palette.KINDS if name in interfaces]
    colour = alt.Color(
        "interface:N",
        title=None,
        scale=alt.Scale(domain=known, range=[palette.KINDS[name].colour for name in known]),
        legend=alt.Legend(orient="bottom", columns=3) if len(known) > 1 else None,
    )
    drawn = [_panel(bars, panel.title, row.axis if panel is row.panels[-1] else None, colour) for panel, bars in panels]
    spec = shared.finish(shared.stacked(drawn, 22), row.finding, [])
    spec["config"]["title"]["fontSize"] = 13
    words = [f"{panel.title} {bar['label']} {bar['text']}".strip() for panel, bars in panels for bar in bars]
    return render.svg(spec), f"{row.finding} ({row.axis}): {'; '.join(words)}"


def _bars(panel: Panel) -> Iterator[dict[str, Any]]:
    study, test, *metric = panel.of.split()
    results = REFERENCES.newest(study)
    name = SHORT.get(metric[0], metric[0]) if metric else results.test(test).judged[0].name
    counts = {count.name: count for count in results.test(test).answering}
    for label, shown in panel.setups.items():
        if (label, test) not in results.cells:
            raise LookupError(f"{panel.of}: no label {label!r}. The labels are {', '.join(results.labels)}")
        bar = {"label": shown, "interface": palette.kind(results.record.setups[label].interface)}
        if name in counts:
            value = counts[name].over(results.cells[label, test].valid)
            if value is None:
                raise LookupError(f"{panel.of}: no valid trial of {label} contains this count")
            yield bar | {"value": value, "text": in_words(value)}
            continue
        found = results.estimate(label, test, name)
        if found is None:
            raise LookupError(f"{panel.of}: no valid trial of {label} contains {name}")
        bar |= {"value": found.value, "text": number(found.value)}
        yield bar | ({"low": found.low, "high": found.high} if closed(found) else {})


def _panel(bars: list[dict[str, Any]], title: str, axis: str | None, colour: alt.Color) -> Any:
    bars = [{**bar, "end": bar.get("high", bar["value"])} for bar in bars]
    domain = shared.scale_for(bars, kind="linear")["domain"]
    scale = alt.Scale(domain=[0, domain[1] * ROOM_OF_TEXT], nice=False, clamp=True)
    x = alt.X("value:Q", scale=scale, title=axis, axis=alt.Axis(grid=True, tickCount=4))
    base = shared.described(bars).encode(y=alt.Y("label:N", sort=[bar["label"] for bar in bars], title=None, axis=None))
    names = base.mark_text(align="left", dy=-BELOW, fontSize=12).encode(x=alt.value(0), text="label:N")
    drawn = base.mark_bar(height=BAR, yOffset=BELOW).encode(x=x, color=colour)
    rules = base.transform_filter("isValid(datum.high)").mark_rule(strokeWidth=2, color=palette.INK, yOffset=BELOW)
    intervals = rules.encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
    figures = base.mark_text(align="left", dx=6, dy=BELOW).encode(x=alt.X("end:Q", scale=scale), text="text:N")
    heading = {"title": shared.heading(title)} if title else {}
    return alt.layer(drawn, intervals, names, figures).properties(width=WIDTH, height=ROW * len(bars), **heading)


class AdviceDirective(SphinxDirective):
    """Insert the chart of a row or chart, given by name. Without a name, insert the table and sections of all rows."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        self.env.note_dependency(str(FILE))
        if self.arguments:
            known = {one.name: one for one in (*read().row, *read().chart)}
            if self.arguments[0] not in known:
                raise self.error(f"docs/choosing.toml doesn't define {self.arguments[0]}, only {', '.join(known)}")
            return [inlined(known[self.arguments[0]])]
        return self.parse_text_to_nodes("\n".join(lines(rows())), allow_section_headings=True)


def inlined(row: Chart) -> nodes.raw:
    """Return a chart as a part of the page, in the colours of the page's theme."""
    return embedded(f"advice-{row.name}", *chart(row))


def embedded(name: str, document: str, alt: str) -> nodes.raw:
    """Return an SVG document as a part of the page, in the colours of the page's theme.

    The document's ids contain the ``name``, so that they are unique on the page.
    """
    svg = drawing.inlined(document, alt, name, ())
    for ink, paint in PAINTS.items():
        svg = svg.replace(f'"{ink}"', f'"{paint}"')
    svg = SIZE.sub(
        r'style="width: 100%; max-width: \1px; height: auto" ', svg.replace(f'"{palette.PAPER}"', '"none"'), 1
    )
    return nodes.raw("", f'<figure style="margin: 0">{svg}</figure>', format="html")


def lines(found: tuple[Row, ...]) -> Iterator[str]:
    """Yield the lines of the tables and of the sections, as reST."""
    for place, (machine, places) in enumerate(evidence.by_machine(row.effect for row in found).items()):
        yield from table([found[place] for place in places], machine, OTHERS if place else NEWEST)
    for row in found:
        yield from ["", f".. _choose-{row.name}:", "", row.case, "-" * len(row.case), ""]
        yield from [f".. advice:: {row.name}", "", " ".join(row.text.split())]


def table(found: list[Row], machine: str, caption: str) -> Iterator[str]:
    """Yield a table of rows that were measured on the same machine.

    If ``machine`` is empty, each row contains the reason why the effect isn't shown, instead of the effect.
    """
    title = caption.format(machine) if machine else UNDECIDED
    yield from [f".. list-table:: {title}", "   :header-rows: 1", "   :class: stacked advice"]
    yield from ["   :widths: 16 22 20 32 10", ""]
    for row in (None, *found):
        cells = HEADINGS if row is None else (f":ref:`{row.case} <choose-{row.name}>`", *cells_of(row))
        if row and not machine:
            cells = (*cells[:3], f"not shown. {evidence.problem(row.effect)}", cells[4])
        yield from (f"   {'* -' if place == 0 else '  -'} {cell}" for place, cell in enumerate(cells))
    yield ""


def cells_of(row: Row) -> tuple[str, ...]:
    """Return a row's cells except the first, as reST."""
    evidence = ", ".join(f":doc:`{study} </results/{study}>`" for study in row.evidence)
    return (row.use, row.avoid, " ".join(row.effect.split()), evidence)


def for_readme() -> str:
    """Return README's table in Markdown: the rows for README from the machine on which most of them were measured."""
    found = rows()
    [(machine, places), *_] = evidence.by_machine(row.effect for row in found).items()
    table = [HEADINGS[:-1], ("---",) * 4]
    kept = (found[place] for place in places if found[place].in_readme)
    table += [(f"[{row.case}](docs/choosing.rst)", *map(_markdown, cells_of(row)[:3])) for row in kept]
    lines = "".join(f"| {' | '.join(cells)} |\n" for cells in table)
    return f"{lines}\nAll rows were measured on the same type of machine ({machine}).\n"


def _markdown(text: str) -> str:
    return ROLE.sub(_link, text).replace("``", "`")


def _link(role: re.Match[str]) -> str:
    if role[1] == "doc":
        title, _, page = role[2].rpartition(" <")
        return f"[{title or role[2]}](docs/{page.rstrip('>') if title else role[2]}.rst)"
    figure, page = ROLES[role[1]].found(" ".join(role[2].split()))
    folder = REFERENCES.studies[page][0].name if page in REFERENCES.studies else page.removesuffix("/index")
    return f"[{figure}](results/{folder}/index.rst)"


def check_readme(app: Sphinx) -> None:
    """Log a warning if README, its chart or the model doesn't match the newest runs."""
    import readme

    old = [file for file, text in readme.written(REFERENCES).items() if file.read_text(encoding="utf-8") != text]
    for file in old:
        message = "%s is not up to date. Run PYTHONPATH=. python docs/_ext/readme.py"
        logging.getLogger(__name__).warning(message, file.name)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("advice", AdviceDirective)
    app.connect("builder-inited", check_readme)
    return {"parallel_read_safe": True}
