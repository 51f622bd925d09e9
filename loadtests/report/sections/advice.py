"""Describe the advice that a sweep gives: which cell to choose, and how certain the choice is."""

from __future__ import annotations

from loadtests.analyse.sweep_results import SweepResults
from loadtests.formatting import capital, figure, number, plural, ratio, series
from loadtests.plan.kinds import metric as metric_of
from loadtests.plan.sweep import Sweep, environment
from loadtests.records import Advice, AdviceOutcome
from loadtests.records.run.run_record import RunRecord

MAX_NAMED = 4  # maximum number of candidates in a sentence


def what_to_choose(swept: SweepResults) -> str:
    """Return sentences that advise which cell of a sweep to choose."""
    if swept.halved:
        record = swept.results.record
        if record.advice is None or record.advice.outcome is None:
            return _so_far(swept)
        return " ".join([*sentences(record, swept.sweep), line(record)]).strip()
    if not swept.known_measures:
        return "Nothing: no cell has a figure."
    if not swept.knows_noise:
        return (
            "Not known: too few blocks contain valid trials to distinguish differences from noise. "
            "Add blocks (--blocks)."
        )
    choice = swept.choice
    if choice is None:
        best = [
            f"{swept.words(label)} for {measure.name}"
            for measure in swept.known_measures
            if (label := swept.looks_best(measure))
        ]
        return f"It depends: no cell is within noise of the best in all measures. {series(best)} look best."
    unknown = [measure.name for measure in swept.measures if measure not in swept.known_measures]
    without = f" Unknown, because the trials are too short: {series(unknown)}." if unknown else ""
    return f"{_standing(swept, choice)}{_memory(swept, choice)}.{without} Set {environment(swept.env[choice])}"


def _standing(swept: SweepResults, choice: str) -> str:
    behind = []
    for measure in swept.known_measures:
        place = swept.places[measure][choice]
        best = swept.looks_best(measure)
        if place.ratio != 1 and best is not None:
            behind.append(
                f"{ratio(place.ratio)} the {measure.name} of {swept.words(best)}, at worst {ratio(place.worst)}"
            )
    if not behind:
        return f"{swept.words(choice)} looks best in {series([measure.name for measure in swept.known_measures])}"
    return f"{swept.words(choice)} is within noise of the best ({'; '.join(behind)})"


def _memory(swept: SweepResults, choice: str) -> str:
    """Compare the chosen cell's memory with the memory of a cell that looks better in a measure, if there is one."""
    looking_best = (swept.looks_best(measure) for measure in swept.known_measures)
    best = next((label for label in looking_best if label not in (None, choice)), None)
    if best is None or choice not in swept.memory or best not in swept.memory:
        return ""
    share = swept.memory[choice] / swept.memory[best]
    if abs(share - 1) <= swept.results.study.delta:
        return ", and uses as much memory"
    figures = f"{number(swept.memory[choice])} instead of {number(swept.memory[best])} MB"
    return f", and uses {share:.0%} of its memory ({figures})"


def _so_far(swept: SweepResults) -> str:
    """Describe the state of a search that ended early: the remaining candidates, and the best figure."""
    record = swept.results.record
    rounds = record.advice.rounds if record.advice else ()
    measured = max((block for past in rounds for block in past.blocks), default=0)
    left = dict.fromkeys(slot.label for slot in record.order if slot.block > measured)
    [measure] = swept.measures
    ranked = swept.results.by_estimate(measure.test, measure.metric)
    known = [label for label in ranked if label in left and label in swept.places[measure]]
    who = series([swept.words(label) for label in left]) if len(left) <= MAX_NAMED else plural(len(left), "candidate")
    text = f"Not known: the search ended after {plural(len(rounds), 'round')}, with {who} left."
    if not known:
        return f"{text} None of them has a verified figure."
    best = figure(swept.results.estimate(known[0], measure.test.name, measure.metric.name))
    return (
        f"{text} {swept.words(known[0])} has the best {measure.name} so far, {best} {measure.metric.unit}. "
        "More rounds may change the result."
    )


def sentences(record: RunRecord, sweep: Sweep) -> list[str]:
    """Describe the result of a search by halving, its certainty, and the saved time."""
    advice = record.advice
    if advice is None or advice.outcome is None:
        return ["Not known: the search did not finish."]
    words = {entry.label: sweep.words(entry.env) for entry in record.study.entries}
    called = metric_of(advice.metric).label
    pick = words[advice.outcome.pick]
    return [
        f"{capital(pick)} did best in {called}.",
        _certainty(advice.outcome, words, called),
        _saved(advice, len(words)),
    ]


def line(record: RunRecord) -> str:
    """Return the environment variables of the result, to paste into a shell."""
    if record.advice is None or record.advice.outcome is None:
        return ""
    pick = record.advice.outcome.pick
    return next(environment(entry.env) for entry in record.study.entries if entry.label == pick)


def _certainty(outcome: AdviceOutcome, words: dict[str, str], called: str) -> str:
    if outcome.runner_up is None:
        return "No other candidate was left after the earlier rounds."
    other = words[outcome.runner_up]
    if outcome.ratio is None or outcome.low is None or outcome.high is None:
        return f"Too few blocks are valid to compare it with the runner-up, {other}."
    within = f"95%: {ratio(outcome.low)} to {ratio(outcome.high)}"
    against = f"Its {called} is {ratio(outcome.ratio)} the {called} of the runner-up, {other} ({within})"
    if outcome.significant:
        return f"{against}: significantly different."
    return f"{against}: no significant difference."


def _saved(advice: Advice, cells: int) -> str:
    trials = sum(len(one.candidates) * len(one.blocks) for one in advice.rounds)
    blocks = sum(len(one.blocks) for one in advice.rounds)
    return (
        f"{plural(cells, 'candidate')} in {plural(len(advice.rounds), 'round')} took {plural(trials, 'trial')} and "
        f"{number(advice.seconds / 60)} minutes. Measuring all candidates {blocks} times, as often as the finalists, "
        f"would have taken {plural(cells * blocks, 'trial')} and about {number(advice.grid_seconds / 60)} minutes."
    )
