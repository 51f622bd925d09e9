"""A run's progress: a line a trial where there is no terminal, and the time left at its pace so far."""

import io
import re

import pytest
from rich.console import Console

from loadtests.commands.progress import FIRM_S, RunProgress, seconds_left
from loadtests.records import CapacityRecord, Flag, Second, Trial
from loadtests.records.result import NOTHING
from loadtests.workload import Load, Request
from tests.fixtures.results import good_result


@pytest.fixture
def ended():
    """A function: what is printed when a trial with that result, those flags and that log has ended."""

    def tell(again=False, **fields):
        text = io.StringIO()
        with RunProgress(Console(file=text, width=80), 28, 10.0) as progress:
            progress.doing("gunicorn, latency", 5.0)
            progress.ended(Trial(3, 1, "gunicorn", "gunicorn", "latency", 1, "", **{"status": "ok", **fields}), again)
        return text.getvalue().splitlines()

    return tell


def result(**fields):
    load = Load("http://127.0.0.1:1", (Request("GET /"),), rate=1500.0, duration_s=2.0)
    times = {**NOTHING, "p50": 1.25, "p99": 10.0}
    return good_result(load, **{"rate": 1500.0, "response_time_ms": times, **fields})


def test_a_trial_has_its_figures(ended):
    assert ended(result=result()) == ["  3/28 gunicorn, latency: 1,500 requests/s, p50 1.2 ms, p99 10.0 ms"]


def test_a_search_has_what_it_found_and_not_the_figures_of_its_last_probe(ended):
    found = CapacityRecord(186.0, 200.0, "server", "186 streams within the objective", "p99<100ms", ())
    assert ended(result=result(), capacity=found) == ["  3/28 gunicorn, latency: 186 streams within the objective"]


def test_what_an_engine_does_not_know_is_left_out(ended):
    assert ended(result=result(response_time_ms=NOTHING)) == ["  3/28 gunicorn, latency: 1,500 requests/s"]


def test_one_error_is_not_many(ended):
    [line] = ended(result=result(errors={"status": 1}, unfinished=2))
    assert line.endswith(", 1 error, 2 unfinished")
    [line] = ended(result=result(errors={"status": 1, "reset": 1}))
    assert line.endswith(", 2 errors, 0 unfinished")


def test_an_invalid_trial_says_why(ended):
    flags = (Flag("server_did_not_start", "invalid", "The server did not start [at all]."),)
    assert ended(again=True, status="invalid", flags=flags, log="one\ntwo") == [
        "  3/28 gunicorn, latency: invalid, once more",
        "      invalid: The server did not start [at all].",
        "      | one",
        "      | two",
    ]


def test_after_each_block_a_line_says_what_is_known_so_far():
    text = io.StringIO()
    with RunProgress(Console(file=text, width=80), 28, 10.0, so_far=lambda block: f"block {block} of 4") as progress:
        progress.block_ended(2)
    assert text.getvalue() == "block 2 of 4\n"


def test_in_a_terminal_a_second_is_shown_with_its_rate_and_median():
    text = io.StringIO()
    with RunProgress(Console(file=text, width=80, force_terminal=True), 28, 300.0) as progress:
        progress.doing("gunicorn, latency", 60.0)
        progress.second(Second(0.0, 1030, 1023, 1023, 0, 3.14, 9.0))
        progress._bar.refresh()
    assert "gunicorn, latency: 1,023/s, p50 3.1 ms" in text.getvalue()


def test_in_a_terminal_a_bar_says_what_is_done_and_the_time_left():
    text = io.StringIO()
    console = Console(file=text, width=80, force_terminal=True)
    with RunProgress(console, 28, 300.0) as progress:
        progress.doing("block 1 of 4: starting gunicorn", 60.0)
        progress.doing("block 1 of 4: gunicorn, latency", 60.0)
        progress._bar.refresh()
    assert "block 1 of 4: gunicorn, latency" in text.getvalue()
    assert re.search(r"\b[1-4]:\d\d left", text.getvalue())


def test_before_anything_is_done_it_is_as_planned():
    assert seconds_left(planned_s=300, done_s=0, took_s=0) == 300


def test_a_run_that_goes_as_planned_ends_as_planned():
    assert seconds_left(planned_s=300, done_s=100, took_s=100) == 200


def test_where_every_trial_is_repeated_the_rest_takes_twice_as_long_nearly():
    assert seconds_left(planned_s=7200, done_s=3600, took_s=7200) == pytest.approx(7200, rel=0.01)


def test_one_slow_trial_at_the_beginning_says_little():
    assert seconds_left(planned_s=300, done_s=5, took_s=20) < 1.5 * 295
    assert seconds_left(planned_s=300, done_s=FIRM_S, took_s=4 * FIRM_S) == 270 * 2.5


def test_a_run_that_takes_longer_than_planned_has_nothing_left_at_the_end():
    assert seconds_left(planned_s=300, done_s=300, took_s=600) == 0
    assert seconds_left(planned_s=300, done_s=310, took_s=600) == 0  # blocks were added
