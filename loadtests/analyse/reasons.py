"""The one list of what makes a trial invalid or doubtful, and what to do about each.

*Invalid*: the figure is not the server's (the generator was the limit, the contract broke, a process died,
the clock moved). It is shown and never averaged in; the trial is repeated once. *Doubtful*: the figure is the
server's, on a machine that was not quite its own. It counts, with its flag beside it: the ratio within a block
and the mean over blocks, which leaves out the outermost, are there for such trials.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from loadtests.plan.scheduling_delay import LATE
from loadtests.records import Flag

# Share of the servers' cores that others took, the hypervisor (steal) included.
OTHERS_CPU_DOUBTFUL = 0.10
OTHERS_CPU_INVALID = 0.25


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
    service_swapped = (
        Severity.INVALID,
        "memory was swapped on the machine of a service",
        "Close other programs there, or turn swap off (swapoff -a) while measuring.",
    )
    service_taken = (
        Severity.INVALID,
        f"others took more than {OTHERS_CPU_INVALID:.0%} of the cores of a service's machine (steal included)",
        "Stop other programs there; with steal, choose a machine whose cores are not shared.",
    )
    machine_disturbed = (
        Severity.DOUBTFUL,
        f"others took more than {OTHERS_CPU_DOUBTFUL:.0%} of the generator's core, or of the cores of a service's "
        "machine (steal included)",
        "Stop other programs there; with steal, choose a machine whose cores are not shared, or add blocks.",
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
        Reason.service_swapped,
        Reason.service_taken,
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
