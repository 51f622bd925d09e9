"""Test how a client observes its load generator's core."""

import itertools

import pytest

from loadtests.hosts.agent.core_watch import CoreWatch
from loadtests.observe import other_load
from loadtests.observe.other_load import OthersMoment


@pytest.fixture
def watch(monkeypatch):
    """Simulate a client that observes its core every second. Other programs use half of the core."""
    seconds = itertools.count(1.0)
    monkeypatch.setattr(
        other_load, "moment", lambda cores, own: OthersMoment(at := next(seconds), 0.5 * at, 0.0, 0, None)
    )
    return CoreWatch(1)


def result(watch, *messages):
    """Pass a generator's messages and events to the watch. Return the conditions that the watch adds to the result."""
    for message in messages:
        (watch.on_event if "event" in message else watch.on_message)(message)
    event = {"event": "result"}
    watch.on_event(event)
    return event.get("conditions")


def slice_of(load, duration_ms=500):
    return {"load": load, "slice": {"durationMs": duration_ms}}


OVER, CLOSE = {"event": "over"}, {"load": "1", "close": True}


def test_interleaved_slices_are_distinguished(watch):
    assert result(watch, slice_of("1"), OVER, slice_of("2"), OVER, slice_of("1"), OVER, CLOSE) == {
        "elapsed_s": 2.0, "clock_jump_s": 0.0, "other_load": 0.5, "swapped_pages": 0, "mhz": None
    }  # fmt: skip
    assert result(watch, {"load": "2", "close": True})["elapsed_s"] == 1.0


@pytest.mark.parametrize(
    "messages",
    [
        [slice_of("1"), {"stop": True}, OVER, CLOSE],
        [slice_of("1", 0), OVER, slice_of("1"), OVER, CLOSE],
        [{"start": 17.0}, {"event": "held"}, {"event": "second"}, OVER],
    ],
    ids=["a load that is stopped", "a warm-up before it", "users from the first that comes"],
)
def test_watch_covers_the_whole_load(watch, messages):
    assert result(watch, *messages)["elapsed_s"] == 1.0
