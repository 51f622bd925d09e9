"""Percentiles of all planned requests, where some failed or were never answered, and of all expected deliveries."""

from __future__ import annotations

from math import inf

from loadtests.plan.objective import MAX_ERRORS
from loadtests.plan.percentiles import knowable
from loadtests.records import RequestResult, Result
from loadtests.records.histogram import decoded
from loadtests.records.result import PERCENTILES, Figures


def of_all(result: Result, key: str) -> float | None:
    """A percentile (``p99``) in ms of all planned requests, of which those that failed or were never answered rank as
    infinitely slow: infinite where enough did that it is never reached.

    None where it is not known: an engine without histograms knows only those that were answered.
    """
    failed = sum(result.failed.values())
    return _percentile(result.ok, failed, result.latency_ms, result.histograms.get(result.latency_of), key)


def of_method(result: Result, method: str, key: str) -> float | None:
    """The same of the requests of a journey that have a method (``GET``). None also where they were too few."""
    own = result.journeys.method(method) if result.journeys else None
    if own is None or not knowable(PERCENTILES[key], own.planned):
        return None
    return _percentile(own.ok, own.planned - own.ok, own.response_time_ms, result.histograms.get(method.lower()), key)


def of_request(one: RequestResult, key: str) -> float | None:
    """The same of one request of several, or of one route: where the percentile is reached it is that of the requests
    that were answered well, for of a single one no histogram is kept. None also where they were too few."""
    if not knowable(PERCENTILES[key], one.planned):
        return None
    return one.response_time_ms.get(key) if one.ok >= one.planned * PERCENTILES[key] / 100 else inf


def _percentile(ok: int, failed: int, figures: Figures, histogram: str | None, key: str) -> float | None:
    """The percentile of ``ok`` requests, whose times are known, and of others that failed."""
    if not failed:
        return figures.get(key)
    planned = ok + failed
    if ok < planned * PERCENTILES[key] / 100:
        return inf
    if histogram is None:
        return figures.get(key) if failed <= planned * MAX_ERRORS else None
    found = decoded(histogram).percentile(PERCENTILES[key] * planned / ok)
    return None if found is None else found / 1000


def of_deliveries(result: Result, key: str) -> float | None:
    """A percentile of the lag in ms over all deliveries that were expected, of which those that are missing rank as
    infinitely late: infinite where enough are that it is never reached. So do those of messages that were due and
    never sent. None where it is not known."""
    deliveries = result.deliveries
    if deliveries is None:
        return None
    came, histogram = deliveries.delivered, result.histograms.get("lag")
    return _of_due(came, result.deliveries_due, deliveries.lag_ms, histogram, key)


def of_last(result: Result, key: str) -> float | None:
    """A percentile of the time in ms until the last of a message's receivers has it, over all messages that had any:
    those that one of them never got rank as infinitely late, and so do those that were due and never sent. None where
    it is not known."""
    deliveries = result.deliveries
    if deliveries is None or not deliveries.messages or deliveries.last_ms is None:
        return None
    due = deliveries.messages * (result.planned / result.sent)
    return _of_due(deliveries.whole or 0, due, deliveries.last_ms, result.histograms.get("last"), key)


def _of_due(came: int, due: float, figures: Figures, histogram: str | None, key: str) -> float | None:
    """The percentile of all that were due, of which ``came`` did, whose times are known."""
    if came == due:
        return figures.get(key)
    if came < due * PERCENTILES[key] / 100:
        return inf
    if histogram is None:
        return None
    found = decoded(histogram).percentile(PERCENTILES[key] * due / came)
    return None if found is None else found / 1000


def of_rejoined(result: Result, key: str) -> float | None:
    """A percentile of the time in ms that connections were away when the server was restarted: those that never came
    back are away for ever. None where it is not known, and where they were too few."""
    found = result.connections.rejoined if result.connections else None
    if found is None or not knowable(PERCENTILES[key], found.lost):
        return None
    return _of_due(found.back, found.lost, found.away_ms, result.histograms.get("away"), key)


def of_first_events(result: Result, key: str) -> float | None:
    """A percentile of the time in ms to the first event over all streams that were begun, of which those that had none
    rank as infinitely slow. None where it is not known, and where they were too few."""
    found = result.streams
    if found is None or not knowable(PERCENTILES[key], found.begun):
        return None
    return _of_due(found.answered, found.begun, found.first_ms, result.histograms.get("first_event"), key)


def of_events(result: Result, key: str) -> float | None:
    """A percentile of the delay in ms over all events, of which those that are missing rank as infinitely late. None
    where it is not known."""
    found = result.streams
    if found is None or not found.due:
        return None
    return _of_due(found.events, found.due, found.delay_ms, result.histograms.get("event_delay"), key)


def of_left(result: Result, key: str) -> float | None:
    """A percentile of the time in ms from when a client left until its view had ended, over all views that had begun:
    those that did not end by the end of the grace period never do. None where it is not known, and where they were
    too few."""
    found = result.streams.left if result.streams else None
    if found is None or not knowable(PERCENTILES[key], found.views):
        return None
    return _of_due(found.ended, found.views, found.after_ms, result.histograms.get("view_ended"), key)


def knows_lag(result: Result, key: str) -> bool:
    """Whether there were enough messages to know a percentile of the lag of their deliveries. Messages and not
    deliveries: those of one message are late together, so that a hundred of them tell hardly more than one does."""
    return result.deliveries is not None and knowable(PERCENTILES[key], result.ok)
