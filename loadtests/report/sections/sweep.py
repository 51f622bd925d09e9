"""Show a sweep: advice, a heat map of each measure and of memory, and all figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from loadtests.analyse.best import Place
from loadtests.analyse.results import Results
from loadtests.analyse.sweep_results import Measure, SweepResults, read_sweep
from loadtests.formatting import capital, number, ratio, series, span
from loadtests.report import tables
from loadtests.report.charts import heatmap
from loadtests.report.charts.shared import Chart
from loadtests.report.points import why_unknown
from loadtests.report.sections.advice import what_to_choose
from loadtests.report.view import Field, Finding, Section, Table

HOW = (
    "The best figure is biased, because its cell was selected by this figure. So every cell is kept unless another is "
    "significantly better. The remaining cells, within noise of the best, include the true best with 95% confidence, "
    "in all measures at once. With the same confidence, no cell is further behind the best than its figure at worst. "
    "The recommended cell remains in every measure and has the least memory. Within ±{delta:.0%} of the least memory, "
    "it is the first cell in the order of the study."
)
STRONGER = "The stronger the colour, the better."
MARKED = "Framed: looks best; dashed: within noise of the best."
IN_WORDS = {"within": "within noise of the best"}


def findings(results: Results) -> tuple[Finding, ...]:
    """Return the advice of a sweep as a finding, or an empty tuple for other runs."""
    swept = read_sweep(results)
    return (Finding("What to choose", what_to_choose(swept)),) if swept and results.trials else ()


def section(results: Results) -> Section | None:
    """Return advice, heat maps and figures, or None if the run isn't a sweep."""
    swept = read_sweep(results)
    if swept is None:
        return None
    knobs = swept.sweep.swept
    paragraphs = [what_to_choose(swept), HOW.format(delta=results.study.delta)]
    if len(knobs) > 2:
        paragraphs.append(f"The maps have a panel for each combination of {series(list(knobs)[2:])}.")
    maps = [*(_of_measure(swept, measure) for measure in swept.measures), _of_memory(swept)]
    return Section(
        "sweep",
        f"Sweep of {series(list(knobs))}",
        tuple(paragraphs),
        (_table(swept),),
        tuple(_chart(swept, one) for one in maps if one.figures),
    )


def _table(swept: SweepResults) -> Table:
    columns = ["cell"]
    for measure in swept.measures:
        columns += [_with_unit(measure), "of the best"]
    columns += ["peak MB"]
    rows = []
    for label in swept.labels:
        fields = [Field(label, tone="good" if label == swept.choice else "")]
        for measure in swept.measures:
            fields += [
                tables.estimate(swept.results, label, measure.test, measure.metric),
                _place(swept, label, measure),
            ]
        fields.append(Field(number(swept.memory.get(label)), tone="" if label in swept.memory else "muted"))
        rows.append(tuple(fields))
    return Table(
        "sweep",
        f"Every cell of {swept.sweep.setup}",
        tuple(columns),
        tuple(rows),
        note=(
            f"{tables.MEAN} Of the best: the ratio to the best cell within the blocks, and its worst value with 95% "
            "confidence; grey if another cell is significantly better. Memory: the sum over processes."
        ),
        numeric=frozenset(range(1, len(columns))),
    )


def _with_unit(measure: Measure) -> str:
    return measure.metric.with_unit(measure.name)


def _place(swept: SweepResults, label: str, measure: Measure) -> Field:
    place = swept.places[measure].get(label)
    if place is None:
        return tables.unknown()
    if not swept.knows_noise:
        return Field(ratio(place.ratio))
    worst = ratio(place.worst)
    tone = "" if place.may_be_best else "muted"
    return Field(ratio(place.ratio), f"at worst {worst}", f"{ratio(place.ratio)} (to {worst})", tone)


@dataclass(frozen=True)
class _Map:
    """The data of a heat map.

    Attributes:
        name: The name of the chart.
        text: The heading, a colon, and a description.
        figures: The figure of each cell, by label.
        details: Additional texts for the cells, by label. Without a figure, the text states why it isn't known.
        more_is_better: Whether a higher figure is better.
        marks: The marks of cells, by label: ``best``, ``within`` or an empty string.
    """

    name: str
    text: str
    figures: Mapping[str, float]
    details: Mapping[str, str]
    more_is_better: bool = False
    marks: Mapping[str, str] = field(default_factory=dict)


def _of_measure(swept: SweepResults, measure: Measure) -> _Map:
    figures = {
        label: estimate.value
        for label in swept.labels
        if (estimate := swept.results.estimate(label, measure.test.name, measure.metric.name))
        and math.isfinite(estimate.value)
    }
    places = swept.places[measure] if swept.knows_noise else {}
    details = {label: "looks best" if place.ratio == 1 else ratio(place.ratio) for label, place in places.items()}
    for label in swept.labels:
        if label not in figures:
            details[label] = why_unknown(swept.results, label, measure.test, measure.metric)
    marks = {label: _mark(place) for label, place in places.items()}
    text = f"{_with_unit(measure)}: {measure.test.description}"
    name, better = f"sweep-{measure.test.name}", measure.metric.more_is_better
    return _Map(name, text, figures, details, better, marks)


def _of_memory(swept: SweepResults) -> _Map:
    least = min(swept.memory.values(), default=0.0)
    details = {label: "least" if figure == least else ratio(figure / least) for label, figure in swept.memory.items()}
    text = "peak memory, MB: the sum over processes"
    return _Map("sweep-memory", text, swept.memory, details)


def _mark(place: Place) -> str:
    if place.ratio == 1:
        return "best"
    return "within" if place.may_be_best else ""


def _chart(swept: SweepResults, drawn: _Map) -> Chart:
    axes = [(knob, list(values)) for knob, values in swept.sweep.swept.items()]
    down, across, *further = axes if len(axes) > 1 else [("", [""]), *axes]
    rows = []
    for label in swept.labels:
        env = swept.env[label]
        row: dict[str, Any] = {
            "panel": ", ".join(f"{knob}={env[knob]}" for knob, _ in further),
            "down": env.get(down[0], ""),
            "across": env[across[0]],
            "label": label,
            "note": number(drawn.figures[label]) if label in drawn.figures else drawn.details.get(label, "not known"),
        }
        if label in drawn.figures:
            row |= {"value": drawn.figures[label], "detail": drawn.details.get(label, "")}
            row["mark"] = drawn.marks.get(label, "")
            row["advised"] = "advised" if label == swept.choice else ""
        remarks = [row["note"], row.get("detail", ""), IN_WORDS.get(row.get("mark", ""), ""), row.get("advised", "")]
        rows.append({**row, "text": f"{label}: {', '.join(filter(None, remarks))}"})
    heading, _, description = drawn.text.partition(": ")
    heading = capital(heading)
    key = f"{MARKED} {STRONGER}" if drawn.marks else STRONGER
    blocks = [len(cell.valid) for cell in swept.results.cells.values() if cell.valid]
    return Chart(
        drawn.name,
        f"{heading}, by {series(list(swept.sweep.swept))}. {key}",
        f"{drawn.text}. {'; '.join(row['text'] for row in rows)}.",
        partial(
            heatmap.spec,
            rows,
            (down, across),
            drawn.more_is_better,
            heading,
            [f"{description}; mean of {span(blocks, 'block')}", key],
        ),
    )
