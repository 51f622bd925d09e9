"""The report, top down: what was compared and on what, verdicts, latency, throughput, cost, what was invalid, and how
to repeat it."""

from __future__ import annotations

from loadtests.report import figures, metrics, tables, verdicts
from loadtests.report.table import Results
from loadtests.report.view import Cell, Page, Section, Table
from loadtests.report.wording import DASH, plural, what


def page(results: Results) -> Page:
    """The whole report of a run."""
    sections = [_compared(results), _verdicts(results), _latency(results), _throughput(results), _cost(results)]
    sections += [_flagged(results), _repeat(results)]
    return Page(
        title=str(results.study["title"]),
        question=str(results.study["question"]),
        created=str(results.about["created"]),
        summary=tuple(_summary(results)),
        sections=tuple(section for section in sections if section is not None),
        labels=tuple(results.labels),
    )


def _summary(results: Results) -> list[str]:
    trials, invalid = len(results.trials), sum(trial.status != "ok" for trial in results.trials)
    if not trials:
        return ["Nothing was measured: the run ended before its first trial did."]
    sentences = [
        f"{plural(len(results.labels), 'setup')}, {plural(len(results.tests), 'test')}, "
        f"{plural(results.blocks, 'block')}: {plural(trials, 'trial')}, {invalid or 'none'} of them invalid."
    ]
    planned = len(results.about["order"])
    measured = len({trial.number for trial in results.trials})
    if measured < planned:
        sentences.append(f"The run is not complete: {measured} of {plural(planned, 'planned trial')} were measured.")
    return sentences + verdicts.sentences(results)


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
            Cell(f"{test['duration_s']:g} s"),
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
        tables=(
            Table("setups", "Setups", ("label", "setup", "how it is served", "interface", "knobs"), setups),
            Table(
                "tests",
                "Tests",
                ("test", "what is sent", "engine", "measured for", "after a warm-up of"),
                tests,
                numeric=frozenset({3, 4}),
            ),
            Table("machine", "Machine", ("property", "value"), tables.pairs(machine)),
        ),
    )


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
            )
            for test in tests
        ),
        tuple(chart for test in tests if (chart := figures.over_time(results, test))),
    )


def _cost(results: Results) -> Section | None:
    if not results.roles:
        return None
    shown = {
        metrics.CPU: "CPU ms/request",
        **{metrics.role_cpu(role): f"{role} ms" for role in results.roles},
        "requests_per_cpu_s": "requests/CPU s",
        "memory_peak_mb": "peak MB",
        "memory_settled_mb": "settled MB",
        "context_switches_per_request": "switches/request",
    }
    return Section(
        "cost",
        "Cost",
        (
            "CPU time of all processes of a setup, for each request answered well: what failed requests burn is borne "
            "by those that succeed. Memory is the sum over processes of what each has resident, so pages they share "
            "are counted in each.",
        ),
        tuple(
            tables.measured(results, test, f"cost-{test['name']}", f"Cost: {what(test)}", shown, counts=False)
            for test in results.tests
        ),
        tuple(chart for test in results.tests if (chart := figures.cost(results, test))),
    )


def _flagged(results: Results) -> Section:
    flagged = [(trial, flag) for trial in results.trials for flag in trial.flags]
    rows = tuple(
        (
            Cell(trial.name),
            Cell(str(trial.block)),
            Cell(flag["severity"], tone="bad" if flag["severity"] == "invalid" else "muted"),
            Cell(flag["sentence"]),
        )
        for trial, flag in flagged
    )
    heads = ("trial", "block", "severity", "what happened, what to do")
    flags = (Table("flags", "Flagged trials", heads, rows),) if rows else ()
    if rows:
        text = "An invalid trial says nothing of the server: it is shown here, repeated once, and never averaged in."
    else:
        text = "No trial was invalid or doubtful."
    logs = tuple(
        (f"End of the log of {trial.name}", trial.log) for trial in results.trials if trial.flags and trial.log
    )
    return Section("invalid", "What was invalid, and why", (text,), (*flags, *tables.generator(results)), logs=logs)


def _repeat(results: Results) -> Section:
    about = results.about
    git, versions = about.get("git") or {}, about.get("versions") or {}
    dirty = " with changes that were not committed, so it cannot be repeated exactly" if git.get("dirty") else ""
    revision = f"Revision {git['revision']}{dirty}." if git.get("revision") else "The revision is not known."
    commands = [f"git checkout {git['revision']}", "make setup"] if git.get("revision") else ["make setup"]
    software = [
        (name.replace("_", " "), tables.listed(version) if isinstance(version, dict) else tables.flat(version)[0][1])
        for name, version in versions.items()
    ]
    return Section(
        "repeat",
        "How to repeat it",
        (f"{revision} The order of trials comes from the seed {about['seed']}.",),
        (Table("software", "Software", ("what", "version"), tables.pairs(software)),) if software else (),
        commands=(*commands, str(about["command"])),
    )
