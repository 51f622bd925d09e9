"""Show what the choice of a server is worth for a view: a chart, a table, and the errors of the prediction.

The directive ``view-worth`` inserts a ``chart``, a ``table`` or ``errors [STUDY]`` with figures from the newest
committed runs. README shows the same chart from docs/choosing.svg. ``readme.py`` writes this file, and the model that
``run --app`` uses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import mean
from typing import Any

import altair as alt
from advice import embedded
from docutils import nodes
from reference_model import HELD_OUT, SHOWN, held_out, interface, measured, model, shown, views
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from loadtests.analyse import cost_model as models
from loadtests.formatting import number, ratio
from loadtests.report.charts import palette, shared
from loadtests.report.formats import drawing, render

FROM_MS, TO_MS, STEPS_PER_DECADE = 0.1, 100.0, 15
WIDTH, HEIGHT, VIEW_ROW = 400, 250, 17  # pixels
KEY = ("lines: predicted", "dots: measured", "dashed: no measurement yet")
TITLE_MS = 10.0
COLUMNS_MS = (1.0, 10.0, 100.0)


def title() -> str:
    """Return the chart's title, which states the finding with the figures of the newest run."""
    known = {kind: [label for label in shown() if interface(label) == kind] for kind in SHOWN}
    wsgi = max(abs(1 - model().relative(label, TITLE_MS).value) for label in known["wsgi"])
    best = max(model().relative(label, TITLE_MS).value for label in known["asgi"])
    worst = min(model().relative(label, TITLE_MS, model().asgi_growth).value for label in known["asgi"])
    asgi = f"{1 - best:.0%} to {1 - worst:.0%}"
    return f"At {TITLE_MS:g} ms of CPU, WSGI servers differ by {wsgi:.0%}, and ASGI costs {asgi}"


def chart() -> tuple[str, str]:
    """Return the chart as SVG, and its description."""
    spec = shared.finish(shared.stacked([_curves(), _views()], 8), title(), [])
    spec["config"]["title"]["fontSize"] = 13
    words = [
        f"{label} {', '.join(f'{ratio(model().relative(label, ms).value)} at {ms:g} ms' for ms in COLUMNS_MS)}"
        for label in shown()
    ]
    return render.svg(spec), f"{title()}. Requests per second relative to {models.BASELINE}: {'; '.join(words)}"


def as_file() -> str:
    """Return the chart as an SVG document, which is dark if the reader's system uses a dark theme."""
    return drawing.file(*chart())


def _curves() -> Any:
    dots = [{"ms": ms, "value": value, "kind": palette.kind(kind)} for ms, value, kind in measured()]
    scale = alt.Scale(domain=[0, _top()], nice=False)
    y = alt.Y("value:Q", scale=scale, title=None, axis=alt.Axis(values=[0, 0.5, 1, 1.5], labelExpr="'×' + datum.value"))
    low = alt.Y("low:Q", scale=scale, title=None)
    x = _x(alt.Axis(grid=False, values=[0.1, 1, 10, 100], labelExpr="datum.value + ' ms'"))
    rows = list(_points(max(dot["ms"] for dot in dots)))
    base = alt.Chart(shared.values(rows)).encode(x=x, detail=["label:N", "part:N"], color=_colour())
    intervals = base.mark_area(opacity=0.2).encode(y=low, y2="high:Q")
    lines = base.mark_line(strokeWidth=1.4).encode(
        y=y,
        strokeDash=alt.StrokeDash(
            "part:N", scale=alt.Scale(domain=["measured", "beyond"], range=[[1, 0], [4, 3]]), legend=None
        ),
    )
    many = alt.Chart(shared.values(list(_many_queries()))).mark_area(opacity=0.13)
    many = many.encode(x=x, y=low, y2="high:Q", color=_colour())
    points = alt.Chart(shared.values(dots)).mark_point(filled=True, size=34, opacity=1)
    points = points.encode(x=x, y=y, color=_colour())
    heading = shared.heading("requests per second, relative to Gunicorn with threads (×1)")
    return alt.layer(many, intervals, lines, points, *_names(x, y)).properties(
        width=WIDTH, height=HEIGHT, title=heading
    )


def _top() -> float:
    return max(model().relative(label, FROM_MS).high for label in shown()) * 1.05


def _steps() -> list[float]:
    decades = math.log10(TO_MS / FROM_MS)
    count = round(decades * STEPS_PER_DECADE)
    return [FROM_MS * 10 ** (decades * step / count) for step in range(count + 1)]


def _points(measured_to_ms: float) -> Iterator[dict[str, Any]]:
    """Yield the points of the curves. The measured part of a curve ends at the longest measured view."""
    steps = _steps()
    for label in [*shown(), models.BASELINE]:
        kind = palette.kind("wsgi" if label == models.BASELINE else interface(label))
        last = max(step for step in steps if step <= measured_to_ms)
        for ms in steps:
            at = model().relative(label, ms) if label in model().added_ms else models.Ranged(1.0, 1.0, 1.0)
            row = {"label": label, "kind": kind, "ms": ms, "value": at.value, "low": at.low, "high": at.high}
            for part in ("measured", "beyond"):
                if (ms <= last) if part == "measured" else (ms >= last):
                    yield {**row, "part": part}


def _many_queries() -> Iterator[dict[str, Any]]:
    """Yield the points of ASGI's area, between views without queries and the held-out view with the largest growth."""
    asgi = [label for label in shown() if interface(label) == "asgi"]
    for ms in _steps():
        low = min(model().relative(label, ms, model().asgi_growth).low for label in asgi)
        yield {"ms": ms, "low": low, "high": max(model().relative(label, ms).value for label in asgi), "kind": "ASGI"}


def _colour() -> alt.Color:
    domain = [palette.kind(name) for name in SHOWN]
    colours = [palette.KINDS[name].colour for name in domain]
    return alt.Color("kind:N", scale=alt.Scale(domain=domain, range=colours), legend=None)


def _names(x: alt.X, y: alt.Y) -> Iterator[Any]:
    """Yield charts with the names of the curves, and with a key for lines and dots."""
    top, bottom = (model().relative(label, 0.17) for label in ("granian-wsgi", "mod_wsgi-express"))
    asgi = model().relative("uvicorn", 0.17)
    names = [
        {"ms": 0.19, "value": top.high + 0.04, "kind": "WSGI", "text": "WSGI: Granian, uWSGI"},
        {"ms": 0.105, "value": bottom.low - 0.09, "kind": "WSGI", "text": "WSGI: mod_wsgi, behind nginx"},
        {"ms": 0.105, "value": asgi.low - 0.13, "kind": "ASGI", "text": "ASGI: Uvicorn, Granian, Hypercorn, Daphne"},
    ]
    base = alt.Chart(shared.values(names)).mark_text(align="left", fontSize=11)
    yield base.encode(x=x, y=y, text="text:N", color=_colour())
    notes = [{"ms": TO_MS, "value": _top() * (1 - 0.07 * row), "text": text} for row, text in enumerate(KEY, 1)]
    key = alt.Chart(shared.values(notes)).mark_text(align="right", fontSize=11, color=palette.MUTED)
    yield key.encode(x=x, y=y, text="text:N")


def _x(axis: alt.Axis | None) -> alt.X:
    return alt.X("ms:Q", scale=alt.Scale(type="log", domain=[FROM_MS, TO_MS]), title=None, axis=axis)


def _views() -> Any:
    rows = [
        {"name": one.name, "ms": one.low_ms, "end": one.high_ms, "spread": one.high_ms > one.low_ms} for one in views()
    ]
    x = _x(None)
    y = alt.Y("name:N", sort=[row["name"] for row in rows], axis=None)
    base = alt.Chart(shared.values(rows)).encode(y=y)
    names = base.mark_text(align="right", dx=-8, fontSize=11).encode(x=x, text="name:N")
    spans = base.mark_rule(strokeWidth=3, color=palette.MUTED).encode(x=x, x2="end:Q")
    marks = base.mark_point(filled=True, shape="diamond", size=50, opacity=1, color=palette.INK).encode(x=x)
    return alt.layer(spans, marks, names).properties(
        width=WIDTH, height=VIEW_ROW * len(rows), title=shared.heading("the view's own CPU time, for example")
    )


class ViewWorthDirective(SphinxDirective):
    """Insert the chart, the table or the errors of the prediction."""

    required_arguments = 1
    optional_arguments = 1  # the study whose errors are shown

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()
        if self.arguments[0] == "chart":
            return [embedded("view-worth", *chart())]
        lines = {"table": table, "errors": errors}.get(self.arguments[0])
        if lines is None:
            raise self.error(f"view-worth: there is no part {self.arguments[0]}. The parts are chart, table and errors")
        return self.parse_text_to_nodes("\n".join(lines(*self.arguments[1:])))


def table() -> Iterator[str]:
    """Yield a table of the CPU time that each server adds, as reST."""
    at = [f"{ms:g} ms" for ms in COLUMNS_MS]
    headings = ("setup", "interface", "added, ms", "compared with gthread, ms (simultaneous 95% intervals)", *at)
    yield from _table([headings, *map(_row, [models.BASELINE, *shown()])])
    if model().partly_idle:
        yield from ["", f"Not shown, because the core wasn't full: {', '.join(model().partly_idle)}."]


def _row(label: str) -> tuple[str, ...]:
    name = f"``{label}``"
    if label == models.BASELINE:
        return (name, "WSGI", number(model().baseline_ms), "0", *("×1" for _ in COLUMNS_MS))
    added, kind = model().added_ms[label], interface(label)
    growth = model().asgi_growth if kind == "asgi" else 0.0
    interval = f"{added.value:+.2f} ({added.low:+.2f} to {added.high:+.2f})"
    cells = []
    for ms in COLUMNS_MS:
        few, many = (ratio(model().relative(label, ms, extra).value) for extra in (0.0, growth))
        cells.append(few if few == many else f"{many} to {few}")
    return (name, palette.kind(kind), number(model().baseline_ms + added.value), interval, *cells)


def errors(study: str = HELD_OUT) -> Iterator[str]:
    """Yield a table of a study's held-out views, with predicted and measured throughput, and the mean errors."""
    rows = [("view", "setup", "CPU, ms", "predicted", "measured", "measured, by CPU time", "log error")]
    for one in held_out(study):
        predicted = f"{ratio(one.predicted.value)} ({ratio(one.predicted.low)} to {ratio(one.predicted.high)})"
        measured = (ratio(one.by_rate), ratio(one.by_cpu), f"{one.error:+.3f}")
        rows.append((f"``{one.test}``", f"``{one.label}``", number(one.view_ms), predicted, *measured))
    yield from _table(rows)
    for kind in SHOWN:
        found = [one for one in held_out(study) if one.interface == kind]
        rate, cpu = (mean(map(abs, (getattr(one, name) for one in found))) for name in ("error", "cpu_error"))
        yield from [
            "",
            f"- {palette.kind(kind)}: the mean log error is {rate:.3f} by requests/s, and {cpu:.3f} by CPU time.",
        ]


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield from [".. list-table::", "   :header-rows: 1", ""]
    for cells in rows:
        yield from (f"   {'  -' if place else '* -'} {cell}" for place, cell in enumerate(cells))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("view-worth", ViewWorthDirective)
    return {"parallel_read_safe": True}
