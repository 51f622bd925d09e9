"""Compare the load test of 2016 with its repetition, which is the newest reference run of `2016-stack`.

The table shows the original figures, the figures of the same tool today, and the response times that users notice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from loadtests.analyse.results import Results
from loadtests.formatting import DASH, number, percent
from loadtests.plan.times import ANSWERS
from loadtests.records import Trial
from loadtests.trials.overload import failed_share

STUDY = "2016-stack"
# The report of 2016 contains these values only in its charts.
NO_BAR = "not in the chart"
ORIGINAL = {
    "2016-gunicorn": ("2 ms", "3 ms", "3 ms", "10 ms", "6,950 to 7,200"),
    "2016-daphne-redis": ("21 ms", "70 ms", "85 ms", "118 ms", "3,000 to 3,250"),
    "2016-daphne-ipc": (NO_BAR, NO_BAR, NO_BAR, NO_BAR, "375, falling to 80"),
}
PERCENTILES = ("p50", "p90", "p95", "p99")
SECONDS = 5  # the report of 2016 counts requests in intervals of this length
HEADINGS = ("Setup", "Figure", "2016", "Its tool here", "The users' response times")


def table(results: Results) -> Iterator[str]:
    """Yield the lines of the table, as reST."""
    yield from [".. list-table::", "   :header-rows: 1", "   :widths: 20 26 18 18 18", ""]
    for row in (HEADINGS, *rows(results)):
        yield from (f"   {'  ' if place else '* '}- {cell}" for place, cell in enumerate(row))


def rows(results: Results) -> Iterator[tuple[str, ...]]:
    """Yield a row for each figure of each measured setup."""
    for setup, original in ORIGINAL.items():
        if setup not in results.labels:
            continue
        *times, per_seconds = original
        name = f":ref:`{setup} <setup-{setup}>`"
        as_then, now = (results.cells[setup, test].valid for test in ("latency-as-then", "latency"))
        for percentile, then in zip(PERCENTILES, times, strict=True):
            yield (
                name,
                f"{percentile} at 300 requests/s",
                then,
                reported(as_then, percentile),
                experienced(now, percentile),
            )
        yield name, "of these requests failed", "not reported", failed(as_then), failed(now)
        as_then, now = (results.cells[setup, test].valid for test in ("throughput-as-then", "throughput"))
        yield name, f"Requests per {SECONDS} s, first and last", per_seconds, falling(as_then), falling(now)


def reported(trials: Sequence[Trial], percentile: str) -> str:
    """Return a percentile in ms as the tool reports it: of successful answers, measured from the actual send time."""
    found = [trial.result.service_time_ms.get(percentile) for trial in trials if trial.result]
    return _ms([one for one in found if one is not None])


def experienced(trials: Sequence[Trial], percentile: str) -> str:
    """Return a percentile of all requests, measured from the intended send time. Failures are infinitely slow."""
    found = [ANSWERS.percentile(trial.result, percentile) for trial in trials if trial.result]
    return _ms([one for one in found if one is not None])


def _ms(found: Sequence[float]) -> str:
    text = number(fmean(found) if found else None)
    return f"{text} ms" if text[0].isdigit() else text


def failed(trials: Sequence[Trial]) -> str:
    """Return the share of failed requests, as text."""
    share = failed_share(trials)
    return DASH if not trials else percent(share) if share else "none"


def falling(trials: Sequence[Trial]) -> str:
    """Return the numbers of successful requests in the first and in the last five seconds, as text."""
    results = [trial.result for trial in trials if trial.result]
    if not results:
        return DASH
    # Leave out the seconds of the grace period after the load.
    timelines = [[one.ok for one in found.timeline if one.t < found.duration_s] for found in results]
    first = fmean(sum(seconds[:SECONDS]) for seconds in timelines)
    last = fmean(sum(seconds[-SECONDS:]) for seconds in timelines)
    return f"{first:,.0f}, then {last:,.0f}"
