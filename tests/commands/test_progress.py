"""Test the progress of a run: the line of each trial, and the bar in a terminal."""

import io

import pytest
from rich.console import Console

from loadtests.commands.progress import RunProgress
from loadtests.records import CapacityRecord, Flag, Second, Trial
from loadtests.records.result import NOTHING
from tests.fixtures.results import well


def result(**fields):
    return well(3000, 2.0, **{"rate": 1500.0, "response_time_ms": {**NOTHING, "p50": 1.25, "p99": 10.0}, **fields})


FOUND = CapacityRecord(186.0, 200.0, "server", "186 streams within the objective", "p99<100ms", ())
FLAG = Flag("server_did_not_start", "invalid", "The server did not start [at all].")
INVALID = {"status": "invalid", "flags": (FLAG,), "log": "one\ntwo"}
RATE, TIMES = "1,500 requests/s", ", p50 1.2 ms, p99 10.0 ms"


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({"result": result()}, [RATE + TIMES]),
        # The line of a search shows its result instead of the figures of the last probe.
        ({"result": result(), "capacity": FOUND}, ["186 streams within the objective"]),
        ({"result": result(response_time_ms=NOTHING)}, [RATE]),  # values that an engine doesn't know are omitted
        ({"result": result(errors={"status": 1}, unfinished=2)}, [f"{RATE}{TIMES}, 1 error, 2 unfinished"]),
        (INVALID, ["invalid, once more", f"      invalid: {FLAG.sentence}", "      | one", "      | two"]),
    ],
)
def test_trial_line_shows_result_or_reason(fields, lines):
    text = io.StringIO()
    with RunProgress(Console(file=text, width=80), 28, 10.0) as progress:
        progress.doing("gunicorn, latency", 5.0)
        trial = Trial(3, 1, "gunicorn", "gunicorn", "latency", 1, "", **{"status": "ok", **fields})
        progress.ended(trial, again=fields is INVALID)
    assert text.getvalue().splitlines() == [f"  3/28 gunicorn, latency: {lines[0]}", *lines[1:]]


def test_terminal_bar_shows_progress():
    text = io.StringIO()
    console = Console(file=text, width=80, force_terminal=True)
    with RunProgress(console, 28, 300.0) as progress:
        progress.doing("block 1 of 4: starting gunicorn", 60.0)
        progress.doing("block 1 of 4: gunicorn, latency", 60.0)
        progress._bar.refresh()
        assert "block 1 of 4: gunicorn, latency" in text.getvalue()
        progress.second(Second(0.0, 1030, 1023, 1023, 0, 3.14, 9.0))
        progress._bar.refresh()
    assert "gunicorn, latency: 1,023/s, p50 3.1 ms" in text.getvalue()
