"""Flag trials as invalid or doubtful according to their evidence (``loadtests.trials.reasons``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loadtests.formatting import number, percent, plural, series
from loadtests.plan.times import ANSWERS, LAG, LATE, MAX_ANSWERS_IN_A_ROW
from loadtests.records import Evidence, Flag, HostConditions, Result
from loadtests.trials import limits
from loadtests.trials.reasons import Reason

JUDGED = ("p50", "p99")


def judge(
    evidence: Evidence, result: Result | None = None, unseen: Sequence[str] = (), closed_loop: bool = False
) -> list[Flag]:
    """Return all flags of a trial, in the order of ``Reason``.

    ``unseen`` contains the charged services whose processes aren't known. In a closed loop, a saturated load generator
    doesn't make the trial invalid, because the trial's throughput is still a lower bound.
    """
    flags = list(_flags(evidence, result, Reason.generator_limits if closed_loop else Reason.generator_busy))
    if unseen:
        flags.append(Reason.cost_unseen.flag(series(list(unseen))))
    return flags


def _flags(evidence: Evidence, result: Result | None, busy: Reason) -> Iterator[Flag]:
    if evidence.started is False:
        yield Reason.server_did_not_start.flag()
    # Stray deliveries have their own reason, except in a search, which counts stray deliveries as differences from the
    # contract.
    stray = result.stray if result else 0
    if (differences := (evidence.contract_differences or 0) - stray) > 0:
        yield Reason.contract_broken.flag(plural(differences, "difference"))
    if stray:
        yield Reason.stray_deliveries.flag(plural(stray, "time"))
    if evidence.processes_died:
        yield Reason.process_died.flag(plural(evidence.processes_died, "time"))
    if evidence.service_failed:
        yield Reason.service_failed.flag()
    if evidence.recovered is False:
        yield Reason.did_not_recover.flag()
    if evidence.connection_lost:
        yield Reason.connection_lost.flag()
    if evidence.engine_failed:
        yield Reason.engine_failed.flag()
    if evidence.generator_cpu is not None and evidence.generator_cpu > limits.GENERATOR_CPU:
        yield busy.flag(f"{evidence.generator_cpu:.0%} of a core, more than {limits.GENERATOR_CPU:.0%}")
    yield from map(Reason.clients_differ.flag, differing(result))
    yield from _send_lag(result)
    yield from _not_all_sent(evidence)
    yield from _loop(result)
    if result is not None and ANSWERS.is_unfair(result):
        yield Reason.unfair_service.flag(f"{result.answers_in_a_row:.1f} answers, more than {MAX_ANSWERS_IN_A_ROW}")
    if evidence.clock_jump_s is not None and abs(evidence.clock_jump_s) > limits.CLOCK_JUMP_S:
        yield Reason.clock_jumped.flag(f"by {evidence.clock_jump_s:+.2f} s")
    if evidence.swapped_pages:
        yield Reason.swapped.flag(plural(evidence.swapped_pages, "page"))
    yield from _other_load(evidence)
    yield from _other_hosts(evidence.other_hosts)
    if evidence.frequency_change is not None and abs(evidence.frequency_change) > limits.FREQUENCY_CHANGE:
        yield Reason.frequency_changed.flag(f"{evidence.frequency_change:+.0%}")
    if evidence.shared_core:
        yield Reason.shared_core.flag()


def _send_lag(result: Result | None) -> Iterator[Flag]:
    """Flag a scheduling delay that is a large share of the median. Other percentiles are hidden without a flag."""
    if result is None:
        return
    delay = ANSWERS if result.deliveries is None else LAG
    shares = {key: share for key in JUDGED if (share := delay.sending_share(result, key)) is not None}
    if shares.get("p50", 0.0) > LATE:
        yield Reason.send_lag.flag(series([f"{share:.0%} of {key}" for key, share in shares.items()]))


def _not_all_sent(evidence: Evidence) -> Iterator[Flag]:
    if (
        evidence.planned is not None
        and evidence.sent is not None
        and evidence.sent + evidence.refused < evidence.planned
    ):
        yield Reason.not_all_sent.flag(f"{evidence.sent} of {evidence.planned}")


def _loop(result: Result | None) -> Iterator[Flag]:
    if result is None or result.journeys is None:
        return
    off, expected, ended = result.journeys.disagreement, result.journeys.expected_per_s, result.journeys.ended_per_s
    if off is not None and abs(off) > limits.LOOP_DISAGREES:
        yield Reason.loop_disagrees.flag(f"{expected:,.1f} requests/s expected, {ended:,.1f} measured")


def _other_hosts(hosts: Iterable[HostConditions]) -> Iterator[Flag]:
    """Flag other load on client hosts.

    It only makes a trial doubtful, because the scheduling delay that it causes has its own flag.
    """
    if disturbed := [one for one in hosts if one.other_load > limits.OTHERS_CPU_DOUBTFUL]:
        yield Reason.machine_disturbed.flag(series([f"{one.other_load:.0%} on {one.called}" for one in disturbed]))


def _other_load(evidence: Evidence) -> Iterator[Flag]:
    if evidence.other_load is None:
        return
    if evidence.other_load > limits.OTHERS_CPU_INVALID:
        yield Reason.cores_taken.flag(f"{evidence.other_load:.0%}")
    elif evidence.other_load > limits.OTHERS_CPU_DOUBTFUL:
        yield Reason.cores_disturbed.flag(f"{evidence.other_load:.0%}")


def differing(result: Result | None) -> Iterator[str]:
    """Describe the difference between the processes of a distributed load generator, if it is more than noise.

    All processes measured the same server, so their results should agree.
    """
    known = (
        [one for one in result.generator if one.planned is not None and one.planned >= limits.CLIENT_REQUESTS]
        if result
        else []
    )
    times = [one.p50_ms for one in known if one.p50_ms is not None]
    shares = [(one.ok or 0) / (one.planned or 1) for one in known]
    if len(times) > 1 and max(times) - min(times) > max(limits.CLIENTS_DIFFER_MS, limits.CLIENTS_DIFFER * min(times)):
        yield f"p50 from {number(min(times))} to {number(max(times))} ms"
    elif len(shares) > 1 and max(shares) - min(shares) > limits.CLIENTS_DIFFER:
        yield f"successful answers: {percent(min(shares))} to {percent(max(shares))}"
