"""Test that server-sent events have equal bytes over WSGI and ASGI, and that each event is sent on time."""

import asyncio

import pytest
from django.test import RequestFactory
from endpoints import events

PATHS = ["/events", "/async/events", "/either/events"]
THREE = b"id: 0\ndata: token\n\nid: 1\ndata: token\n\nid: 2\ndata: token\n\n"


@pytest.mark.parametrize("path", PATHS)
def test_events_are_equal_over_both_interfaces(answers, path):
    for response, body in answers("get", f"{path}?events=3&every=1"):
        assert (response.status_code, response.streaming, body) == (200, True, THREE)
        assert response.headers["Content-Type"] == "text/event-stream"
        assert (response.headers["Cache-Control"], response.headers["X-Accel-Buffering"]) == ("no-cache", "no")


def test_sync_generator_works_over_both_interfaces(answers, asgi):
    for _, body in answers("get", "/events?events=3&every=1&generator=sync"):
        assert body == THREE
    own, sync = (asyncio.run(asgi.get(f"/events?every=1&{kind}")) for kind in ("", "generator=sync"))
    assert (own.is_async, sync.is_async) == (True, False)


@pytest.mark.parametrize("path", PATHS)
def test_events_may_be_large(answers, path):
    for _, body in answers("get", f"{path}?events=2&every=1&size=100000"):
        assert body == b"".join(b"id: %d\ndata: %s\n\n" % (number, b"x" * 100_000) for number in range(2))
    for response, body in answers("head", path):
        assert (response.status_code, body) == (200, b"")


@pytest.fixture
def ended(monkeypatch, tmp_path):
    """Return a function that requests /events/ended and returns each stream's note and time since its end."""
    monkeypatch.setenv("RUN_DIR", str(tmp_path))

    def ended(note="run"):
        text = events.ended(RequestFactory().get(f"/events/ended?note={note}")).content.decode()
        return [tuple(line.split()) for line in text.splitlines()]

    return ended


@pytest.mark.parametrize("path", PATHS)
def test_end_of_generator_is_recorded(answers, ended, path):
    assert all(answers("get", f"{path}?events=2&every=1&note=run.7"))
    [(note, ago_s)] = ended()
    assert (note, float(ago_s) >= 0) == ("7", True)
    assert ended("ru") == ended("another") == []


def test_end_of_closed_generator_is_recorded(ended):
    streamed = events.paced(3, 0.0, note="run.1")
    assert ended() == []
    next(streamed)
    assert ended() == [("1", "-")]
    streamed.close()
    [(_, ago_s)] = ended()
    assert float(ago_s) >= 0


@pytest.mark.parametrize(
    "query", ["events=10001", "events=-1", "every=10001", "every=soon", "generator=async", "size=1048577", "note=a/b"]
)
@pytest.mark.parametrize("path", PATHS)
def test_invalid_event_parameters_are_refused(answers, path, query):
    for response, _ in answers("get", f"{path}?{query}"):
        assert response.status_code == 400


@pytest.fixture
def clock(monkeypatch):
    """Replace the clock and the sleep functions. Return a list with the time, which the sleep functions advance."""
    now = [100.0]

    def sleep(seconds):
        now[0] += seconds

    async def sleep_async(seconds):
        now[0] += seconds

    monkeypatch.setattr(events.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(events.time, "sleep", sleep)
    monkeypatch.setattr(events.asyncio, "sleep", sleep_async)
    return now


async def paced_sync(*given):
    for event in events.paced(*given):
        yield event


@pytest.mark.parametrize("paced", [paced_sync, events.paced_async])
def test_late_event_does_not_delay_others(clock, paced):
    async def moments():
        sent = []
        async for _ in paced(4, 0.05):
            sent.append(round(clock[0] - 100, 3))
            clock[0] += 0.12 if len(sent) == 2 else 0  # writing the second event takes 0.12 s
        return sent

    with pytest.raises(StopIteration) as ended:
        moments().send(None)  # a single step runs to the end, because no coroutine suspends
    assert ended.value.value == [0, 0.05, 0.17, 0.17]
