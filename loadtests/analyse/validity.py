"""Judges a trial by its evidence: what made it invalid, or doubtful (``loadtests.analyse.reasons``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loadtests.analyse import agreement
from loadtests.analyse.reasons import OTHERS_CPU_DOUBTFUL, OTHERS_CPU_INVALID, Reason
from loadtests.formatting import percent, plural, series
from loadtests.plan.scheduling_delay import LATE, late_share, late_share_of_lag
from loadtests.records import Evidence, Flag, HostConditions, Result

# Above this share of its core an event loop queues its own work: send lag grows before the core is full.
GENERATOR_CPU = 0.85
# Lateness is part of every response time: a tenth of it shows. Above ``lateness.LATE`` a percentile is not known,
# and a trial whose typical time is not known says nothing.
LATE_SEEN = 0.10
JUDGED = ("p50", "p99")  # that get verdicts, the typical one first
# Wall clock against monotonic clock. The kernel slews at most 500 ppm for NTP: 0.3 s in ten minutes.
CLOCK_JUMP_S = 0.5
# Frequency moves a CPU-bound figure one to one: over the default delta it could be a verdict.
FREQUENCY_CHANGE = 0.03
# A closed loop's rate is arithmetic. Of the rest of the time users neither thought nor waited for an answer.
LOOP_DISAGREES = 0.02


def judge(
    evidence: Evidence, result: Result | None = None, unseen: Sequence[str] = (), closed_loop: bool = False
) -> list[Flag]:
    """All flags of a trial, in the order of the list of reasons: the cause tends to come before its effects.

    ``result`` is what it measured, by which the generator's lateness is judged; ``unseen`` are the services that the
    setup pays for and of which no process was seen. ``closed_loop``: it asked as fast as it was answered, so that a
    generator at its end leaves the rate known as a lower bound."""
    flags = list(_flags(evidence, result, Reason.generator_limits if closed_loop else Reason.generator_busy))
    if unseen:
        flags.append(Reason.cost_unseen.flag(series(list(unseen))))
    return flags


def _flags(seen: Evidence, result: Result | None, busy: Reason) -> Iterator[Flag]:
    if seen.started is False:
        yield Reason.server_did_not_start.flag()
    # What strays is a failure of its own; in a search, which has many results, it is one of the differences.
    stray = result.deliveries.stray if result and result.deliveries else 0
    if (differences := (seen.contract_differences or 0) - stray) > 0:
        yield Reason.contract_broken.flag(plural(differences, "difference"))
    if stray:
        yield Reason.stray_deliveries.flag(plural(stray, "time"))
    if seen.processes_died:
        yield Reason.process_died.flag("; ".join([plural(seen.processes_died, "time"), *_journeys_lost(result)]))
    if seen.service_failed:
        yield Reason.service_failed.flag("; ".join(_journeys_lost(result)))
    if seen.recovered is False:
        yield Reason.did_not_recover.flag()
    if seen.connection_lost:
        yield Reason.connection_lost.flag()
    if seen.engine_failed:
        yield Reason.engine_failed.flag()
    if seen.generator_cpu is not None and seen.generator_cpu > GENERATOR_CPU:
        yield busy.flag(f"{seen.generator_cpu:.0%} of a core, at most {GENERATOR_CPU:.0%}")
    yield from map(Reason.clients_differ.flag, agreement.differing(result))
    yield from _send_lag(result)
    yield from _not_all_sent(seen)
    yield from _loop(result)
    if seen.clock_jump_s is not None and abs(seen.clock_jump_s) > CLOCK_JUMP_S:
        yield Reason.clock_jumped.flag(f"by {seen.clock_jump_s:+.2f} s")
    if seen.swapped_pages:
        yield Reason.swapped.flag(plural(seen.swapped_pages, "page"))
    yield from _others(seen)
    yield from _beside(seen.other_hosts)
    yield from _frequency(seen)
    if seen.shared_core:
        yield Reason.shared_core.flag()


def _journeys_lost(result: Result | None) -> Iterator[str]:
    """What share of the users' journeys was broken off, where there were any: what people met of it."""
    told = result.journeys if result else None
    if told is not None and (ended := told.completed + told.broken_off):
        yield f"{told.broken_off:,} of {plural(ended, 'journey')} broken off, {percent(told.broken_off / ended)}"


def _send_lag(result: Result | None) -> Iterator[Flag]:
    """Each percentile that gets a verdict is judged by the lateness at that percentile."""
    if result is None:
        return
    # Where messages go to receivers it is the lag that is judged.
    share_of = late_share if result.deliveries is None else late_share_of_lag
    late = {key: share for key in JUDGED if (share := share_of(result, key)) is not None}
    if max(late.values(), default=0.0) <= LATE_SEEN:
        return
    reason = Reason.send_lag if late.get(JUDGED[0], 0.0) > LATE else Reason.send_lag_seen
    yield reason.flag(series([f"{share:.0%} of {key}" for key, share in late.items()]))


def _not_all_sent(seen: Evidence) -> Iterator[Flag]:
    if seen.planned is not None and seen.sent is not None and seen.sent + seen.refused < seen.planned:
        yield Reason.not_all_sent.flag(f"{seen.sent} of {seen.planned}")


def _loop(result: Result | None) -> Iterator[Flag]:
    if result is None or result.journeys is None:
        return
    off, expected, ended = result.journeys.disagreement, result.journeys.expected_per_s, result.journeys.ended_per_s
    if off is not None and abs(off) > LOOP_DISAGREES:
        yield Reason.loop_disagrees.flag(f"{expected:,.1f} requests/s expected, {ended:,.1f} measured")


def _beside(beside: Iterable[HostConditions]) -> Iterator[Flag]:
    """Of a machine that makes load what others do shows as lateness, which is judged by itself; here it is doubted."""
    services = [one for one in beside if not one.generates]
    if swapped := [f"{plural(one.swapped_pages, 'page')} on {one.called}" for one in services if one.swapped_pages]:
        yield Reason.service_swapped.flag(series(swapped))
    if taken := [one for one in services if one.other_load > OTHERS_CPU_INVALID]:
        yield Reason.service_taken.flag(_shares(taken))
    if disturbed := [one for one in beside if one.other_load > OTHERS_CPU_DOUBTFUL and one not in taken]:
        yield Reason.machine_disturbed.flag(_shares(disturbed))


def _shares(machines: Iterable[HostConditions]) -> str:
    return series([f"{one.other_load:.0%} on {one.called}" for one in machines])


def _frequency(seen: Evidence) -> Iterator[Flag]:
    services = [(one.frequency_change, f" on {one.called}") for one in seen.other_hosts if not one.generates]
    changes = [(seen.frequency_change, ""), *services]
    figures = [
        f"{change:+.0%}{where}" for change, where in changes if change is not None and abs(change) > FREQUENCY_CHANGE
    ]
    if figures:
        yield Reason.frequency_changed.flag(series(figures))


def _others(seen: Evidence) -> Iterator[Flag]:
    if seen.other_load is None:
        return
    if seen.other_load > OTHERS_CPU_INVALID:
        yield Reason.cores_taken.flag(f"{seen.other_load:.0%}")
    elif seen.other_load > OTHERS_CPU_DOUBTFUL:
        yield Reason.cores_disturbed.flag(f"{seen.other_load:.0%}")
