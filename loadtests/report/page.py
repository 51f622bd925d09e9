"""The report, top down: what was found, what was compared and on what, verdicts, latency, throughput, capacity, cost,
what was invalid, and how to repeat it."""

from __future__ import annotations

from typing import Any

from loadtests.analyse import metrics
from loadtests.analyse.results import Results
from loadtests.report import findings, tables
from loadtests.report.sections import capacity, cost, figures, flagged, repeat, requests, sweep, verdicts
from loadtests.report.view import Cell, Page, Section, Table
from loadtests.report.words import DASH, plural, series, what


def compose(results: Results, price: float | None = None) -> Page:
    """The whole report of a run; ``price`` of a core-hour, where it is not to be the study's."""
    # A search measured a setup the less the worse it looked, which no verdict allows for.
    searched = "advice" in results.about
    sections = [sweep.section(results), _compared(results), None if searched else _verdicts(results)]
    sections += [_latency(results), _throughput(results), requests.section(results)]
    sections += [capacity.section(results), cost.section(results, price)]
    sections += [flagged.section(results), repeat.section(results)]
    return Page(
        title=str(results.study["title"]),
        question=str(results.study["question"]),
        created=str(results.about["created"]),
        findings=(*sweep.findings(results), *(() if searched else findings.findings(results))),
        summary=tuple(_summary(results)),
        sections=tuple(section for section in sections if section is not None),
        labels=tuple(results.labels),
    )


def _summary(results: Results) -> list[str]:
    trials, invalid = len(results.trials), sum(trial.status != "ok" for trial in results.trials)
    if not trials:
        return ["Nothing was measured: the run ended before its first trial did."]
    searched = "advice" in results.about
    sentences = [sentence] if not searched and (sentence := findings.certainty(results)) else []
    if results.blocks == 1 and len(results.labels) > 1:
        sentences.append("One block gives no interval, so nothing is certain and nothing is ranked.")
    sentences.append(
        f"{plural(len(results.labels), 'setup')}, {plural(len(results.tests), 'test')}, "
        f"{plural(results.blocks, 'block')}: {plural(trials, 'trial')}, {invalid or 'none'} of them invalid."
    )
    if own := results.about.get("application"):
        served = f"The project served is {own['options']['app']}, on Django {own['django']} and Python {own['python']}."
        sentences += [served, *(f"{remark[0].upper()}{remark[1:]}." for remark in own["remarks"])]
    if results.skipped:
        sentences.append(f"Skipped, with the reason below: {series(list(results.skipped))}.")
    planned = len(results.about["order"])
    measured = len({trial.number for trial in results.trials})
    if measured < planned:
        sentences.append(f"The run is not complete: {measured} of {plural(planned, 'planned trial')} were measured.")
    return sentences


def _compared(results: Results) -> Section:
    setups = tuple(
        (
            Cell(entry["label"]),
            Cell(entry["setup"]),
            Cell(str(results.setup(entry["label"]).get("label", DASH))),
            Cell(str(results.setup(entry["label"]).get("interface", DASH))),
            Cell(" ".join(f"{key}={value}" for key, value in entry["env"].items()) or "defaults"),
        )
        for entry in results.study["entries"]
    )
    tests = tuple(
        (
            Cell(test["name"]),
            Cell(what(test)),
            Cell(test["engine"]),
            Cell(_duration(test)),
            Cell(f"{test['warmup_s']:g} s"),
        )
        for test in results.tests
    )
    machine = tables.flat(results.about["machine"]) + tables.flat(
        {"cores used by the": results.about.get("cores") or {}, "environment": results.about.get("knobs") or {}}
    )
    return Section(
        "compared",
        "What was compared, and on what",
        (f"Measured on {machine_in_short(results)}.",),
        tables=(
            Table("setups", "Setups", ("label", "setup", "how it is served", "interface", "knobs"), setups),
            Table(
                "tests",
                "Tests",
                ("test", "what is sent", "engine", "measured for", "after a warm-up of"),
                tests,
                numeric=frozenset({3, 4}),
            ),
            Table("machine", "Machine", ("property", "value"), tables.pairs(machine), folded=True),
        ),
    )


def machine_in_short(results: Results) -> str:
    """``AMD EPYC, 2 cores, kvm, Linux 6.18``: what of the machine a reader asks first, as far as it is known."""
    machine = {"cores": None, **results.about["machine"]}
    cores = plural(machine["cores"], "core") if isinstance(machine["cores"], int) else None
    named = [machine.get(name) for name in ("cpu", "virtualization", "kernel", "distribution")]
    return ", ".join(part for part in (named[0], cores, *named[1:]) if isinstance(part, str)) or "a machine not known"


def _duration(test: dict[str, Any]) -> str:
    if test["kind"] == "capacity":
        return f"{test['probe_s']:g} s a probe, {test['confirm_s']:g} s to confirm"
    return f"{test['duration_s']:g} s"


def _verdicts(results: Results) -> Section | None:
    if len(results.labels) < 2:
        return None
    return Section(
        "verdicts",
        "Verdicts",
        verdicts.paragraphs(results),
        tuple(verdicts.table(results, test) for test in results.tests),
        tuple(chart for test in results.tests if (chart := figures.verdicts(results, test))),
    )


def _latency(results: Results) -> Section | None:
    tests = [test for test in results.tests if test["kind"] == "latency"]
    if not tests:
        return None
    return Section(
        "latency",
        "Latency",
        (
            "Response time is counted from the moment a request should have been sent, so waiting counts even when the "
            "generator or the server is late; service time, which is all that some engines know, from the moment it "
            "was. Percentiles are taken in each trial, then the median over trials.",
        ),
        tuple(
            tables.measured(
                results,
                test,
                f"latency-{test['name']}",
                f"{results.latency(test['name']).capitalize()}, ms: {what(test)}",
                {f"{key}_ms": key for key in metrics.PERCENTILES},
                optional=("p95", "p90", "p99.9", "trials"),
            )
            for test in tests
        ),
        tuple(chart for test in tests if (chart := figures.latency(results, test))),
    )


def _throughput(results: Results) -> Section | None:
    tests = [test for test in results.tests if test["kind"] == "throughput"]
    if not tests:
        return None
    return Section(
        "throughput",
        "Throughput over time",
        (
            "Requests answered well per second. In a closed loop each connection waits for its answer before it asks "
            "again, so a slow server is asked less: read the response times of such a test as part of its throughput.",
        ),
        tuple(
            tables.measured(
                results,
                test,
                f"throughput-{test['name']}",
                f"Throughput: {what(test)}",
                {"rps": "requests/s", "p50_ms": "p50, ms", "p99_ms": "p99, ms"},
                optional=("p50, ms", "trials"),
            )
            for test in tests
        ),
        tuple(chart for test in tests if (chart := figures.over_time(results, test))),
    )
