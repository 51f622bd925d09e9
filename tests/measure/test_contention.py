"""Test runs on a machine where other programs disturb the trials.

Such a run ends early with a report, names the programs, and can be resumed.
"""

import dataclasses
import re

import pytest
import typer

from loadtests.analyse.outcome import RunOutcome, imprecision, outcome
from loadtests.commands.progress import carry_out
from loadtests.measure.contention import ContentionWatch, TooBusy, attempts_to_go_on
from loadtests.measure.prepare import resume
from loadtests.measure.run import execute
from loadtests.observe.top_processes import Takers
from loadtests.records import Flag, Trial
from loadtests.records.run.folder import Run
from tests.fixtures.bench import FakeTrials, SilentWatcher
from tests.fixtures.pages import summary

LATE, TAKEN, DIED, SHARED = "send_lag", "cores_taken", "process_died", "shared_core"
TABLE = {
    "setups": ["gunicorn", "uvicorn"],
    "blocks": 2,
    "interleave": False,
    "tests": {"throughput": {"duration": "1s"}},
}


def trial(label="gunicorn", *reasons, number=1, attempt=1, test="latency"):
    severity = "doubtful" if SHARED in reasons else "invalid"
    flags = tuple(Flag(reason, severity, "") for reason in reasons)
    status = "invalid" if flags and severity == "invalid" else "ok"
    return Trial(number, 1, label, "gunicorn", test, attempt, "", status, flags)


def judged(trials, labels=2, together=1):
    """Return the number of the trial that causes a TooBusy error, and the error's message. Otherwise, return None.

    ``together`` trials are measured at the same time.
    """
    spoiled = ContentionWatch(labels, Takers)
    for number, one in enumerate(trials, start=1):
        try:
            spoiled.add(dataclasses.replace(one, block=1 + (number - 1) // together))
            if number % together == 0:
                spoiled.require_calm()
        except TooBusy as error:
            return number, str(error)
    return None


def test_four_disturbed_trials_stop_run():
    row = [trial("a", LATE), trial("a", LATE, TAKEN), trial("b", LATE), trial("b", LATE, TAKEN)]
    assert judged(row * 2) == (
        4,
        "4 trials in a row are invalid, and the setups aren't the cause: the generator's scheduling delay is a large "
        "share of the typical response time; currently no other program uses the cores",
    )


FAILED = [trial("a", "engine_failed"), trial("b", "engine_failed")]
FOUR = [trial(label, LATE) for label in "abcd"]


@pytest.mark.parametrize(
    ("trials", "options", "number"),
    [
        ([trial("a", LATE), trial("b", TAKEN)] * 8, {}, None),  # the setups have different reasons
        ([trial("a", LATE), trial("a", LATE), trial("b", LATE), trial("b")] * 8, {}, None),  # a valid trial in between
        ([trial("a", DIED), trial("b", DIED)] * 8, {}, None),  # the setups are the reason
        ([trial("a", SHARED), trial("b", SHARED)] * 8, {}, None),
        ([trial("a", LATE)] * 8, {}, None),  # only one of two setups is too fast for the generator
        (FAILED * 3, {"together": 10}, None),  # all trials failed at the same moment
        # If no trial has figures, the run ends within the block.
        ([trial(*"ab"[n % 2], "engine_failed", test=f"t{n}") for n in range(6)], {"together": 10}, 4),
        # A single disturbance of all interleaved trials isn't enough.
        (FOUR, {"labels": 4, "together": 4}, None),
        (FOUR * 2, {"labels": 4, "together": 4}, 8),
    ],
)
def test_run_stops_only_if_disturbed(trials, options, number):
    found = judged(trials, **options)
    assert (found and found[0]) == number


def test_trials_without_calm_attempts_are_repeated():
    trials = [
        *(trial("a", LATE, number=1, attempt=attempt) for attempt in (1, 2)),
        *(trial("a", DIED, number=2, attempt=attempt) for attempt in (1, 2)),
        *(trial("a", LATE, number=3, attempt=1), trial("a", number=3, attempt=2)),
        trial("a", LATE, number=4),
        *(trial("a", LATE, number=5, attempt=attempt) for attempt in (1, 2, 3, 4)),
    ]
    assert attempts_to_go_on(trials, usual=2) == {1: 4, 4: 3, 5: 6}


@pytest.fixture
def busy(prepare, folder, bench_of):
    """Return a function that starts a run of two setups in two blocks, or resumes it.

    The first ``trials.invalid`` trials are disturbed.
    """
    trials = FakeTrials(reason=lambda planned: LATE if len(trials.ran) <= trials.invalid else None)
    trials.invalid = 100

    def run(resumed=False):
        return trials.instead(resume(folder, bench_of) if resumed else prepare(TABLE))

    run.trials = trials
    return run


def test_resumed_run_repeats_disturbed_trials(busy):
    with pytest.raises(TooBusy):
        execute(busy(), SilentWatcher(), imprecision)
    busy.trials.ran, busy.trials.invalid = [], 1
    execute(busy(resumed=True), SilentWatcher(), imprecision)
    assert busy.trials.attempts == [(1, 2), (2, 2), (1, 3), (3, 2), (4, 2)]


def test_invalid_trial_is_repeated_within_block(busy):
    busy.trials.invalid = 1
    execution = busy()
    execute(execution, SilentWatcher(), imprecision)
    assert outcome(execution.run) is RunOutcome.VALID
    assert busy.trials.attempts == [(1, 1), (2, 1), (1, 2), (3, 1), (4, 1)]


def test_stopped_command_leaves_a_report(busy, folder, capsys):
    execution = busy()
    with pytest.raises(typer.Exit) as ended:
        carry_out(execution)
    assert ended.value.exit_code == 3
    printed, errors = capsys.readouterr()
    assert errors.startswith(
        "warning: 4 trials in a row are invalid, and the setups aren't the cause: the generator's scheduling delay"
    )
    takers = (
        r"the cores are currently used by a compiler \(pid 7, 99% of a core\) and other .* \(steal, 25% of a core\)"
    )
    assert re.search(takers, errors)
    assert errors.endswith(f"--resume {folder}, or add --ignore-busy to continue now\n")
    assert re.search(r"gunicorn +\([\d,.]+\) unverified", printed)
    assert "unverified" in (folder / "report.html").read_text()
    assert not re.search(r"\([\d,.]+\) \(?unverified", (folder / "index.rst").read_text())
    [first, _] = summary(execution.run)
    assert (first["trials"], first["invalid"], first["unverified"], first["rps"]) == ("0", "2", "2", "")
    assert busy.trials.attempts == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert len(Run.open(folder).trials()) == 4
    assert Run.open(folder).record.ended is None


def test_ignore_busy_option_continues_run(busy, capsys):
    carry_out(busy(), anyway=True)
    assert capsys.readouterr().err.startswith("warning: some results are unverified")
    assert len(busy.trials.ran) == 4
    busy.trials.ran = []
    execute(busy(resumed=True), SilentWatcher(), imprecision)
    assert busy.trials.attempts == []
