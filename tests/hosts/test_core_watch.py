"""What a further client sees of its own core, next to the generator that it runs."""

import itertools

import pytest

from loadtests.hosts.agent.core_watch import CoreWatch
from loadtests.observe import other_load
from loadtests.observe.other_load import OthersMoment


@pytest.fixture
def watch(monkeypatch):
    """One on a core of which others take a half, which is looked at every second."""
    seconds = itertools.count(1.0)
    monkeypatch.setattr(
        other_load, "moment", lambda cores, own: OthersMoment(at := next(seconds), 0.5 * at, 0.0, 0, None)
    )
    return CoreWatch(1)


def result(watch):
    event = {"event": "result"}
    watch.on_event(event)
    return event.get("conditions")


def test_slices_of_loads_that_are_made_interleaved_are_distinguished(watch):
    for load in ("1", "2", "1"):
        watch.on_message({"load": load, "slice": {"durationMs": 500}})
        watch.on_event({"event": "over"})
    watch.on_message({"load": "1", "close": True})
    assert result(watch) == {
        "elapsed_s": 2.0, "clock_jump_s": 0.0, "other_load": 0.5, "swapped_pages": 0, "mhz": None
    }  # fmt: skip
    watch.on_message({"load": "2", "close": True})
    assert result(watch)["elapsed_s"] == 1.0


def test_a_load_that_is_stopped_has_what_was_seen(watch):
    watch.on_message({"load": "1", "slice": {"durationMs": 500}})
    watch.on_message({"stop": True})
    watch.on_event({"event": "over"})
    watch.on_message({"load": "1", "close": True})
    assert result(watch)["elapsed_s"] == 1.0


def test_a_warm_up_is_none_of_it(watch):
    watch.on_message({"load": "1", "slice": {"durationMs": 0}})
    watch.on_event({"event": "over"})
    watch.on_message({"load": "1", "close": True})
    assert result(watch) is None


def test_users_are_watched_from_the_first_that_comes(watch):
    watch.on_message({"start": 17.0})
    for event in ("held", "second", "over"):
        watch.on_event({"event": event})
    assert result(watch)["elapsed_s"] == 1.0
