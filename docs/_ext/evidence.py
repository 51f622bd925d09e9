"""Decide which rows of the advice show their figures. The rows of each machine form a separate table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lost_deliveries import loss_test
from measured_roles import OF_A_RUN, ROLES, SHORT, matched
from reference_runs import REFERENCES, Reference

FIGURE = re.compile(r":(\w[\w-]*):`([^`]*)`")
UNDECIDED = ("inconclusive", "equivalent", "unclear")
PAGES = ("doc", "ref")


def figures(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the arguments of each role in a text."""
    for role, request in FIGURE.findall(text):
        if role not in PAGES and role != "share":
            yield role, " ".join(request.split())


def runs(text: str) -> list[Reference]:
    """Return the newest run of each study whose figures a text contains."""
    studies = dict.fromkeys(matched(OF_A_RUN, request)["study"] for _, request in figures(text))
    return [REFERENCES.studies[study][0] for study in studies if study in REFERENCES.studies]


def problem(text: str) -> str | None:
    """Return the reason why a table must not show a text's figures, or None."""
    for role, request in figures(text):
        try:
            ROLES[role].found(request)
        except LookupError as error:
            return f"{request}: {error.args[0]}"
        if why := unfit(role, request):
            return f"{request}: {why}"
    if len({run.machine for run in runs(text)}) > 1:
        return "the figures come from several machines"
    return None


def unfit(role: str, request: str) -> str | None:
    """Return the reason why a figure doesn't support a claim, or None."""
    parts = matched(OF_A_RUN, request)
    results = REFERENCES.newest(parts["study"])
    if role == "ratio" and parts["verdict"] in (None, *UNDECIDED):
        return "no significant difference"
    if role == "lost" and not parts["other"]:
        return "lost deliveries need a comparison. Add 'against SETUP'"
    if role == "lost" and not loss_test(results, parts["label"], parts["other"], parts["test"]).is_significant:
        return "no significant difference in lost deliveries"
    if (results.record.database or "").startswith("postgres"):
        return "the run's PostgreSQL wasn't pinned to cores"
    name = parts["metric"] or results.test(parts["test"]).judged[0].name
    labels = (
        {parts["label"], parts["other"] or results.baseline_of(parts["label"])} if role == "ratio" else {parts["label"]}
    )
    asked = (parts["test"], SHORT.get(name, name))
    bounded = {one.label for one in results.observations if one.at_least and (one.test, one.metric) == asked}
    if found := sorted(labels & bounded):
        return f"{', '.join(found)}: only a lower bound is known"
    return None


def by_machine(effects: Iterable[str]) -> dict[str, list[int]]:
    """Return the indexes of the effects, grouped by machine. The machine with the most effects is first.

    Effects whose figures can't be shown are last, under the key "".
    """
    found: dict[str, list[int]] = {}
    undecided = []
    for place, effect in enumerate(effects):
        if problem(effect):
            undecided.append(place)
        else:
            found.setdefault(runs(effect)[0].machine, []).append(place)
    found = dict(sorted(found.items(), key=lambda group: len(group[1]), reverse=True))
    return found | ({"": undecided} if undecided else {})
