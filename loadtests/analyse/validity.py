"""The one list of what makes a trial invalid or doubtful, and what to do about each.

*Invalid*: the figure is not the server's (the generator was the limit, the contract broke, a process died,
the clock moved). It is shown and never averaged in; the trial is repeated once. *Doubtful*: the figure is the
server's, on a machine that was not quite its own. It counts, with its flag beside it: the ratio within a block
and the mean over blocks, which leaves out the outermost, are there for such trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

from loadtests.analyse import agreement
from loadtests.plan.lateness import LATE, late_share, late_share_of_lag
from loadtests.records import Evidence, Flag, Result
from loadtests.words import percent, plural, series

# Above this share of its core an event loop queues its own work: send lag grows before the core is full.
GENERATOR_CPU = 0.85
# Lateness is part of every response time: a tenth of it shows. Above ``lateness.LATE`` a percentile is not known,
# and a trial whose typical time is not known says nothing.
LATE_SEEN = 0.10
JUDGED = ("p50", "p99")  # that get verdicts, the typical one first
# Share of the servers' cores that others took, the hypervisor (steal) included.
OTHERS_CPU_DOUBTFUL = 0.10
OTHERS_CPU_INVALID = 0.25
# Wall clock against monotonic clock. The kernel slews at most 500 ppm for NTP: 0.3 s in ten minutes.
CLOCK_JUMP_S = 0.5
# Frequency moves a CPU-bound figure one to one: over the default delta it could be a verdict.
FREQUENCY_CHANGE = 0.03
# A closed loop's rate is arithmetic. Of the rest of the time users neither thought nor waited for an answer.
LOOP_DISAGREES = 0.02


class Severity(str, Enum):
    INVALID = "invalid"
    DOUBTFUL = "doubtful"


class Reason(Enum):
    """Every reason: its severity, what it means, and what the reader can do. The name is the key in JSON."""

    server_did_not_start = (
        Severity.INVALID,
        "the server did not answer /healthz in time",
        "Read the end of its log, then start it by hand: make serve SETUP=<setup>.",
    )
    contract_broken = (
        Severity.INVALID,
        "the setup did not answer as the contract says",
        "Run python -m loadtests check <setup>: it prints what differs.",
    )
    stray_deliveries = (
        Severity.INVALID,
        "messages reached receivers in another room, for whom they were not meant",
        "Look at how the setup's layer or adapter tells its groups apart. No figure makes up for this.",
    )
    process_died = (
        Severity.INVALID,
        "a process of the setup died or was restarted during the trial",
        "Read the setup's log for the cause; with a SIGKILL, look for the out-of-memory killer in dmesg.",
    )
    service_failed = (
        Severity.INVALID,
        "a service that runs beside the setup did not start, or ended during the trial",
        "Read the end of its log: it is not the setup's fault.",
    )
    did_not_recover = (
        Severity.INVALID,
        "the server did not serve again as before (after a probe or a slice that was too much for it, or a restart)",
        "Read the end of its log; lower max_rate, so that no probe is that much too much.",
    )
    connection_lost = (
        Severity.INVALID,
        "the connection to the machine of the servers was lost",
        "Look for what cuts the network between the two (a firewall that forgets, Wi-Fi, a suspended machine).",
    )
    engine_failed = (
        Severity.INVALID,
        "the load generator broke off",
        "Read its message in the trial's log; python -m loadtests doctor checks what it needs.",
    )
    generator_busy = (
        Severity.INVALID,
        "the generator was close to the end of its core, so it was measured and not the server",
        "Keep other programs off the generator's core, lower the test's rate or connections, or give the servers fewer "
        "cores (CORES).",
    )
    generator_limits = (
        Severity.DOUBTFUL,
        "the generator was close to the end of its core and could ask no faster, so the rate is a lower bound",
        "Give the servers fewer cores (CORES), or let the setup do more for each request, to see its own limit.",
    )
    clients_differ = (
        Severity.INVALID,
        "the processes that made the load saw different answers, by more than noise",
        "Look at what else runs on the machine of the one that saw the slower ones, and at its way to the servers.",
    )
    send_lag = (
        Severity.INVALID,
        "the generator sent late, and its lateness is a large part of the typical response time",
        "Keep other programs off the generator's core, or lower the test's rate or connections.",
    )
    send_lag_seen = (
        Severity.DOUBTFUL,
        f"the generator sent late now and then; a percentile of which that is over {LATE:.0%} is not known",
        "Keep other programs off the generator's core, or measure for longer.",
    )
    not_all_sent = (
        Severity.INVALID,
        "fewer requests were sent than planned",
        "Lower the test's rate; check the open files (ulimit -n) and the range of local ports.",
    )
    loop_disagrees = (
        Severity.DOUBTFUL,
        "users neither thought nor waited for a part of the time, so they asked for less than users over think and "
        "response time say",
        "Keep other programs off the generator's core, or have fewer users.",
    )
    clock_jumped = (
        Severity.INVALID,
        "the wall clock jumped during the trial",
        "Let the clock settle (chronyc waitsync), or do not suspend or migrate the machine while measuring.",
    )
    swapped = (
        Severity.INVALID,
        "memory was swapped during the trial",
        "Close other programs, lower the number of workers, or turn swap off (swapoff -a) while measuring.",
    )
    cores_taken = (
        Severity.INVALID,
        f"others took more than {OTHERS_CPU_INVALID:.0%} of the servers' cores (steal included)",
        "Stop other programs; with steal, choose a machine whose cores are not shared.",
    )
    cores_disturbed = (
        Severity.DOUBTFUL,
        f"others took more than {OTHERS_CPU_DOUBTFUL:.0%} of the servers' cores (steal included)",
        "Stop other programs; with steal, choose a machine whose cores are not shared, or add blocks.",
    )
    frequency_changed = (
        Severity.DOUBTFUL,
        "the CPU's frequency was not the one of the run's other trials",
        "Set the governor to performance and turn turbo off; python -m loadtests doctor shows how.",
    )
    shared_core = (
        Severity.DOUBTFUL,
        "generator and servers shared a core, so each took time from the other",
        "Measure on a machine with two or more cores.",
    )
    cost_unseen = (
        Severity.DOUBTFUL,
        "a service that the setup pays for did its work elsewhere, so CPU time and memory of the whole are not known",
        "Leave REDIS_URL unset while measuring: a Redis is then started beside the setup, and what it takes is "
        "counted.",
    )

    def __init__(self, severity: Severity, meaning: str, remedy: str) -> None:
        self.severity = severity
        self.meaning = meaning
        self.remedy = remedy

    def flag(self, figures: str = "") -> Flag:
        """The flag of a trial for this reason; ``figures`` are those that led to it."""
        seen = f" ({figures})" if figures else ""
        return Flag(self.name, self.severity.value, f"{self.meaning}{seen}. {self.remedy}")


# What the setup did wrong, rather than the machine or the generator: a run that ends with one of these has failed.
SETUPS_OWN = frozenset(
    {
        Reason.server_did_not_start,
        Reason.contract_broken,
        Reason.stray_deliveries,
        Reason.process_died,
        Reason.did_not_recover,
    }
)

# What the machine or the generator did: no setup would have been measured then. A service that fails is neither's.
MACHINES_OWN = frozenset(
    {
        Reason.connection_lost,
        Reason.engine_failed,
        Reason.generator_busy,
        Reason.clients_differ,
        Reason.send_lag,
        Reason.not_all_sent,
        Reason.clock_jumped,
        Reason.swapped,
        Reason.cores_taken,
    }
)


def is_setups_own(flags: Iterable[Flag]) -> bool:
    """Whether one of these flags is the setup's own fault."""
    return not {reason.name for reason in SETUPS_OWN}.isdisjoint(flag.reason for flag in flags)


def machines_own(flags: Iterable[Flag]) -> set[Reason]:
    """The reasons among these flags for which the machine or the generator spoiled a trial; none where the setup is at
    fault as well."""
    found = {flag.reason for flag in flags}
    if not {reason.name for reason in SETUPS_OWN}.isdisjoint(found):
        return set()
    return {reason for reason in MACHINES_OWN if reason.name in found}


def judge(
    evidence: Evidence, result: Result | None = None, unseen: Sequence[str] = (), closed_loop: bool = False
) -> list[Flag]:
    """All flags of a trial, in the order of the list above: the cause tends to come before its effects.

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
    if seen.frequency_change is not None and abs(seen.frequency_change) > FREQUENCY_CHANGE:
        yield Reason.frequency_changed.flag(f"{seen.frequency_change:+.0%}")
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


def _others(seen: Evidence) -> Iterator[Flag]:
    if seen.others_cpu is None:
        return
    if seen.others_cpu > OTHERS_CPU_INVALID:
        yield Reason.cores_taken.flag(f"{seen.others_cpu:.0%}")
    elif seen.others_cpu > OTHERS_CPU_DOUBTFUL:
        yield Reason.cores_disturbed.flag(f"{seen.others_cpu:.0%}")
