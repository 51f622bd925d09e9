"""The one list of what makes a trial invalid or doubtful, and what to do about each.

*Invalid*: the figure is not the server's (the generator was saturated, the contract broke, a process died, the clock
moved). The trial is shown, never averaged in, and repeated once. *Doubtful*: the server's figure, on a disturbed
machine. It counts, with its flag.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from loadtests.analyse.limits import OTHERS_CPU_DOUBTFUL, OTHERS_CPU_INVALID
from loadtests.records import Flag


class Severity(str, Enum):
    INVALID = "invalid"
    DOUBTFUL = "doubtful"


# The severities, and the responsible side: the setup, the machine or the generator, or neither.
SETUPS, MACHINES = (Severity.INVALID, "setup"), (Severity.INVALID, "machine")
INVALID, DOUBTFUL = (Severity.INVALID, ""), (Severity.DOUBTFUL, "")


class Reason(Enum):
    """Every reason: severity and fault, meaning and remedy. The name is the key in JSON."""

    server_did_not_start = (
        SETUPS,
        "the server did not answer /healthz in time",
        "Read the end of its log, then start it by hand: make serve SETUP=<setup>.",
    )
    contract_broken = (
        SETUPS,
        "the setup did not answer as the contract says",
        "Run python -m loadtests check <setup>: it prints what differs.",
    )
    stray_deliveries = (
        SETUPS,
        "messages reached connections that they were not meant for",
        "Check how the setup, its layer or its adapter separates connections and rooms: this breaks privacy.",
    )
    process_died = (
        SETUPS,
        "a process of the setup died or was restarted during the trial",
        "Read the setup's log for the cause; with a SIGKILL, look for the out-of-memory killer in dmesg.",
    )
    service_failed = (
        INVALID,
        "a supporting service did not start, or ended during the trial",
        "Read the end of its log: it is not the setup's fault.",
    )
    did_not_recover = (
        SETUPS,
        "the server did not recover after an overload or a restart",
        "Read the end of its log; lower max_rate, so that no probe overloads it as much.",
    )
    connection_lost = (
        MACHINES,
        "the connection to the servers' host was lost",
        "Look for what cuts the network between the two (a firewall that forgets, Wi-Fi, a suspended machine).",
    )
    engine_failed = (
        MACHINES,
        "the load generator failed",
        "Read its message in the trial's log; python -m loadtests doctor checks what it needs.",
    )
    generator_busy = (
        MACHINES,
        "the generator was saturated, so it was measured instead of the server",
        "Keep other programs off the generator's core, lower the test's rate or connections, or give the servers fewer "
        "cores (CORES).",
    )
    generator_limits = (
        DOUBTFUL,
        "the generator was saturated, so the rate is a lower bound",
        "Give the servers fewer cores (CORES), or more work per request, to find the setup's own limit.",
    )
    clients_differ = (
        MACHINES,
        "the processes of the load generator measured different times or failures, by more than noise",
        "Check other load on the client host with the slower answers, and its network to the servers.",
    )
    send_lag = (
        MACHINES,
        "the generator's scheduling delay is a large share of the typical response time",
        "Keep other programs off the generator's core, or lower the test's rate or connections.",
    )
    not_all_sent = (
        MACHINES,
        "fewer requests were sent than planned",
        "Lower the test's rate; check the open files (ulimit -n) and the range of local ports.",
    )
    loop_disagrees = (
        DOUBTFUL,
        "users neither thought nor waited for a part of the time, so they sent less than users over think and "
        "response time predict",
        "Keep other programs off the generator's core, or have fewer users.",
    )
    unfair_service = (
        DOUBTFUL,
        "the server answered one connection many times in a row while the others waited, so the test's percentiles are "
        "not reported",
        "Compare the response times of a test with a fixed rate.",
    )
    clock_jumped = (
        MACHINES,
        "the wall clock jumped during the trial",
        "Let the clock settle (chronyc waitsync), or do not suspend or migrate the machine while measuring.",
    )
    swapped = (
        MACHINES,
        "memory was swapped during the trial",
        "Close other programs, lower the number of workers, or turn swap off (swapoff -a) while measuring.",
    )
    cores_taken = (
        MACHINES,
        f"other load used more than {OTHERS_CPU_INVALID:.0%} of the servers' cores (steal included)",
        "Stop other programs; with steal, choose a machine whose cores are not shared.",
    )
    cores_disturbed = (
        DOUBTFUL,
        f"other load used more than {OTHERS_CPU_DOUBTFUL:.0%} of the servers' cores (steal included)",
        "Stop other programs; with steal, choose a machine whose cores are not shared, or add blocks.",
    )
    service_swapped = (
        MACHINES,
        "memory was swapped on a service's host",
        "Close other programs there, or turn swap off (swapoff -a) while measuring.",
    )
    service_taken = (
        MACHINES,
        f"other load used more than {OTHERS_CPU_INVALID:.0%} of the cores of a service's host (steal included)",
        "Stop other programs there; with steal, choose a machine whose cores are not shared.",
    )
    machine_disturbed = (
        DOUBTFUL,
        f"other load used more than {OTHERS_CPU_DOUBTFUL:.0%} of the generator's core, or of the cores of a service's "
        "host (steal included)",
        "Stop other programs there; with steal, choose a machine whose cores are not shared, or add blocks.",
    )
    frequency_changed = (
        DOUBTFUL,
        "the CPU's frequency differed from that of the run's other trials",
        "Set the governor to performance and turn turbo off; python -m loadtests doctor shows how.",
    )
    shared_core = (
        DOUBTFUL,
        "generator and servers shared a core, so each slowed the other",
        "Measure on a machine with two or more cores.",
    )
    cost_unseen = (
        DOUBTFUL,
        "a service charged to the setup ran elsewhere, so its CPU time and memory are not known",
        "Leave REDIS_URL unset while measuring: then a Redis is started next to the setup and counted.",
    )

    def __init__(self, kind: tuple[Severity, str], meaning: str, remedy: str) -> None:
        self.severity, self.whose = kind
        self.meaning = meaning
        self.remedy = remedy

    def flag(self, figures: str = "") -> Flag:
        """The flag of a trial for this reason, with the figures that led to it."""
        detail = f" ({figures})" if figures else ""
        return Flag(self.name, self.severity.value, f"{self.meaning}{detail}. {self.remedy}")


# Flags of older runs that changed no figure. A percentile is reported or it isn't (``loadtests.plan.times.LATE``).
RETIRED = frozenset({"send_lag_seen"})

# A run that ends with one of the setup's has failed.
SETUPS_OWN, MACHINES_OWN = (frozenset(one for one in Reason if one.whose == whose) for whose in ("setup", "machine"))


# The figures of a trial with only such reasons are known, but include more than the setup. They are shown as
# unverified.
UNVERIFIED = MACHINES_OWN - {Reason.connection_lost, Reason.engine_failed, Reason.clock_jumped}


def is_unverified(flags: Iterable[Flag]) -> bool:
    """Return whether only contention or the generator made a trial with these flags invalid."""
    invalid = {flag.reason for flag in flags if flag.invalid}
    return bool(invalid) and invalid <= {reason.name for reason in UNVERIFIED}


def is_setups_own(flags: Iterable[Flag]) -> bool:
    return not {reason.name for reason in SETUPS_OWN}.isdisjoint(flag.reason for flag in flags)


def machines_own(flags: Iterable[Flag]) -> set[Reason]:
    """Return the reasons that the machine or the generator causes. If the setup is at fault, return no reasons."""
    found = {flag.reason for flag in flags}
    if not {reason.name for reason in SETUPS_OWN}.isdisjoint(found):
        return set()
    return {reason for reason in MACHINES_OWN if reason.name in found}
