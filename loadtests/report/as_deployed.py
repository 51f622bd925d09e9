"""Describe a project's deployed command, and how it should change if the setup with the same server is better."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loadtests import files
from loadtests.analyse.results import Results
from loadtests.analyse.verdicts import Verdict
from loadtests.plan.entries import Entry
from loadtests.report.findings import by_importance
from loadtests.report.verdict_text import effect, noisy
from loadtests.setups.variants import is_deployed

# The options of a setup's command that influence its speed. Their value is a word or a knob.
_OPTION = re.compile(r"\s--([\w-]+)[\s=]([\w.]+|%\(ENV_BENCH_(?:WORKERS|THREADS|KEEP_ALIVE)\)s)(?=\s)")
_OTHERS = re.compile(r"bind|host|port|log|graceful|kill|tmp|interface|die")
_DEFAULT = re.compile(r"BENCH_(WORKERS|THREADS|KEEP_ALIVE):-(\d+)")
_SHORT = {"-w": "--workers", "-k": "--worker-class", "-p": "--processes"}


def sentences(results: Results) -> Iterator[str]:
    """Yield a sentence with each deployed command, and a comparison if the setup with the same server is better."""
    for entry in results.study.entries:
        if is_deployed(entry.variant):
            command = f"{entry.label} is your deployed command: {results.setup(entry.label).config}."
            yield " ".join(filter(None, (command, _comparison(results, entry))))


def _comparison(results: Results, entry: Entry) -> str:
    plain = next((one.label for one in results.study.entries if one.setup == entry.setup and not one.variant), None)
    if plain is None:
        return ""
    test = by_importance(results)[0]
    judged = [one for one in results.judged if (one.test, one.metric) == (test.name, test.judged[0].name)]
    found = next(iter(results.compared([(plain, entry.label)], judged)), None)
    if found is None or not found.informative or found.verdict is not Verdict.SLOWER or noisy(found):
        return ""
    missing = _missing(results, entry, plain)
    options = f" This setup also has {' '.join(missing)}. Try these options." if missing else ""
    return f"Compared with {plain}, it has {effect(found, results.latency(test.name))}.{options}"


def _missing(results: Results, entry: Entry, baseline: str) -> list[str]:
    """Return the options of the setup's command that the deployed command or its configuration doesn't have."""
    deployed = results.setup(entry.label).config
    for short, long in _SHORT.items():
        deployed = re.sub(rf"(?<=\s){short}\s*", f"{long} ", deployed)
    known = next(one.env for one in results.study.entries if one.label == baseline)
    defaults = _DEFAULT.findall((files.SUPERVISOR / "defaults.sh").read_text(encoding="utf-8"))
    knobs = {**dict(defaults), **results.record.knobs, **known}
    found = []
    for name, value in _OPTION.findall(results.setup(baseline).config):
        given = knobs[value[len("%(ENV_BENCH_") : -len(")s")]] if value.startswith("%") else value
        same = rf"\b{name.replace('-', '[-_]?')}\s*[\s=]\s*['\"]?{re.escape(given)}\b"
        if not _OTHERS.search(name) and not re.search(same, deployed):
            found.append(f"--{name} {given}")
    return found
