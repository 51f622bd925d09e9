"""What a search found, in sentences: from run.json alone."""

from __future__ import annotations

from typing import Any

from loadtests.plan.metrics import metric as metric_of
from loadtests.plan.sweep import Sweep, environment
from loadtests.report.words import number, plural, ratio
from loadtests.searches.halving import Outcome


def sentences(about: dict[str, Any], sweep: Sweep) -> list[str]:
    """The pick, how sure it is, and what the search saved. ``about`` is a run's run.json with an ``advice``."""
    advice = about["advice"]
    if advice["outcome"] is None:
        return ["Not known: the search did not come to its end."]
    found = Outcome(**advice["outcome"])
    env = {entry["label"]: entry["env"] for entry in about["study"]["entries"]}
    called = {"rps": "throughput"}.get(advice["metric"], metric_of(advice["metric"]).label)
    return [
        f"{_capital(sweep.words(env[found.pick]))} did best in {called}.",
        _certainty(found, {label: sweep.words(one) for label, one in env.items()}, called),
        _saved(advice, len(env)),
    ]


def line(about: dict[str, Any]) -> str:
    """The environment to paste; empty where nothing was found."""
    outcome = about["advice"]["outcome"]
    env = {entry["label"]: entry["env"] for entry in about["study"]["entries"]}
    return environment(env[outcome["pick"]]) if outcome else ""


def _certainty(found: Outcome, words: dict[str, str], called: str) -> str:
    if found.runner_up is None:
        return "No other candidate came through the rounds before."
    other = words[found.runner_up]
    if found.ratio is None or found.low is None or found.high is None:
        return f"Against the runner-up, {other}, too few blocks are valid to say how sure that is."
    against = f"Its {called} is {ratio(found.ratio)} that of the runner-up, {other} (95%: {ratio(found.low)} to "
    against += f"{ratio(found.high)})"
    if found.told_apart:
        return f"{against}: more than noise."
    return f"{against}: nothing between these two was measurable."


def _saved(advice: dict[str, Any], cells: int) -> str:
    trials = sum(len(one["candidates"]) * len(one["blocks"]) for one in advice["rounds"])
    blocks = sum(len(one["blocks"]) for one in advice["rounds"])
    return (
        f"{plural(cells, 'candidate')} in {plural(len(advice['rounds']), 'round')} took {plural(trials, 'trial')} and "
        f"{number(advice['seconds'] / 60)} minutes; all of them {blocks} times, as often as the finalists, would have "
        f"taken {plural(cells * blocks, 'trial')} and about {number(advice['grid_seconds'] / 60)} minutes."
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
