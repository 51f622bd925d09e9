"""Create the whole report of a run: the answer, the findings, and the sections in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from loadtests.analyse.results import Results
from loadtests.formatting import capital, plural, series
from loadtests.records.run.run_record import OwnProject
from loadtests.report import answer as answers
from loadtests.report import as_deployed, environments, findings, headline, leading_counts, setup_names, worth
from loadtests.report.sections import (
    arithmetic,
    cost,
    flagged,
    kinds,
    overview,
    pictures,
    repeat,
    requests,
    sweep,
    verdicts,
)
from loadtests.report.view import Headline, Page, RunAnswer, Section


def compose(results: Results) -> Page:
    """Return the report of a run."""
    advice = sweep.findings(results)
    found = (*leading_counts.findings(results), *findings.findings(results))
    answer = answers.answer(results, advice, found, tuple(_notes(results)))
    top = headline.headline(results, answer, advice, found)
    sections = [sweep.section(results), verdicts.section(results)]
    sections += [*kinds.sections(results), arithmetic.section(results), pictures.section(results)]
    sections += [cost.section(results), _whole_table(answer, top), requests.section(results)]
    sections += [overview.section(results), flagged.section(results), repeat.section(results)]
    return Page(
        title=results.study.title,
        question=results.study.question,
        created=results.record.created,
        answer=answer,
        top=top,
        findings=(*advice, *found),
        certainty=findings.certainty(results) if found else "",
        sections=tuple(section for section in sections if section is not None),
        labels=tuple(results.labels),
    )


def _whole_table(answer: RunAnswer, top: Headline) -> Section | None:
    """Return a section with the whole table, or None if the top of the page already shows all of its columns."""
    if answer.table is None or top.table is answer.table:
        return None
    table = dataclasses.replace(answer.table, name="every-figure", note=answer.legend(range(len(answer.conditions))))
    return Section("every", "Setup by setup", tables=(table,), only_on_pages=True)


def _notes(results: Results) -> Iterator[str]:
    trials, invalid = len(results.trials), sum(not trial.valid for trial in results.trials)
    if not trials:
        yield "Nothing was measured: the run ended before the end of its first trial."
        return
    if invalid == trials:
        nothing = (
            "nothing is ranked" if any(one.unverified for one in results.cells.values()) else "no setup has a figure"
        )
        yield f"No trial is valid, so {nothing}. The page lists the reasons."
    if results.blocks == 1 and invalid < trials and len(results.labels) > 1:
        yield "One block has no intervals, so no difference is significant or ranked."
    planned = len(results.record.order)
    measured = len({trial.number for trial in results.trials})
    if measured < planned:
        yield f"The run is not complete: {measured} of {plural(planned, 'planned trial')} were measured."
    if results.record.application and (sentence := worth.sentence(results)):
        yield sentence
    yield from as_deployed.sentences(results)
    yield answers.flagged(results)
    if (note := setup_names.note(results)) and results.study.sweep is None:
        yield note
    if results.record.application:
        yield from _own_project(results.record.application)
    yield from environments.sentences(results.record)
    yield from _left_out(results)


def _own_project(own: OwnProject) -> Iterator[str]:
    yield f"The measured project is {own.options['app']}, on Django {own.django} and Python {own.python}."
    if isinstance(talk := own.options.get("websocket"), dict):
        yield f"The project's WebSockets were tested at {talk['path']}, with the message {talk['send']}."
    yield from (f"{capital(remark)}." for remark in own.remarks)


def _left_out(results: Results) -> Iterator[str]:
    skipped = [one.label for one in results.record.left_out if one.test is None]
    partly = [f"{one.label} in {one.test}" for one in results.record.left_out if one.test is not None]
    if skipped:
        yield f"Skipped (reasons on the page): {series(skipped)}."
    if partly:
        yield f"Left out (reasons on the page): {series(partly)}."
