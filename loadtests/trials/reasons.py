"""List all reasons that make a trial invalid or doubtful, with a remedy for each.

The figures of an *invalid* trial don't describe the server, for example because the load generator was saturated, the
contract was broken, a process ended, or the clock was changed. Such a trial is shown and repeated once, but isn't part
of any mean. The figures of a *doubtful* trial describe the server on a disturbed machine. These figures are used in
means, and the trial has a flag.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from loadtests.records import Flag
from loadtests.trials.limits import OTHERS_CPU_DOUBTFUL, OTHERS_CPU_INVALID


class Severity(str, Enum):
    INVALID = "invalid"
    DOUBTFUL = "doubtful"


# Each severity, with the responsible side: the setup, the machine (including the load generator), or neither.
SETUPS, MACHINES = (Severity.INVALID, "setup"), (Severity.INVALID, "machine")
INVALID, DOUBTFUL = (Severity.INVALID, ""), (Severity.DOUBTFUL, "")


class Reason(Enum):
    """The reasons, each with its severity, responsible side, meaning and remedy. JSON files contain the names."""

    server_did_not_start = (
        SETUPS,
        "the server did not start, or did not answer in time",
        "Read the end of the server's log. `python -m loadtests serve` with the setup's name starts only this server.",
    )
    contract_broken = (
        SETUPS,
        "an answer of the setup differed from the contract",
        "Read the trial's log. `python -m loadtests check` with the options of this run prints the differences.",
    )
    stray_deliveries = (
        SETUPS,
        "messages reached the wrong connections",
        "Check how the setup, its channel layer or its adapter separates connections and rooms: users could read each "
        "other's messages.",
    )
    process_died = (
        SETUPS,
        "a process of the setup died or was restarted during the trial",
        "Read the setup's log for the cause. After a SIGKILL, look for the out-of-memory killer in dmesg.",
    )
    service_failed = (
        INVALID,
        "a supporting service did not start, or ended during the trial",
        "Read the end of the service's log. The setup isn't the cause.",
    )
    did_not_recover = (
        SETUPS,
        "the server stopped answering and did not recover",
        "Read the end of the server's log. A view may block all threads. If a search is the cause, lower max_rate.",
    )
    connection_lost = (
        MACHINES,
        "the connection to the servers' host was lost",
        "Find out what interrupts the network between the machines, such as a firewall that drops idle connections, "
        "Wi-Fi, or a suspended machine.",
    )
    engine_failed = (
        MACHINES,
        "the load generator failed",
        "Read the engine's message in the trial's log. `python -m loadtests doctor` checks the engine's requirements.",
    )
    generator_busy = (
        MACHINES,
        "the generator was saturated, so the figures describe the generator instead of the server",
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
        "the processes of the load generator measured different times or failures, and noise doesn't explain the "
        "difference",
        "Check the client host with the slower answers for other load, and check its network to the servers.",
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
        "users were idle for part of the time, so they sent fewer requests per second than the number of users divided "
        "by the sum of think time and response time",
        "Keep other programs off the generator's core, or test with fewer users.",
    )
    unfair_service = (
        DOUBTFUL,
        "the server answered one connection many times in a row while other connections waited, so the page doesn't "
        "show the test's percentiles",
        "Compare the response times in a test with a fixed rate instead.",
    )
    clock_jumped = (
        MACHINES,
        "the wall clock jumped during the trial",
        "Wait until the clock is synchronized (chronyc waitsync). Don't suspend or migrate the machine during a run.",
    )
    swapped = (
        MACHINES,
        "memory was swapped during the trial",
        "Close other programs, lower the number of workers, or turn swap off (swapoff -a) during a run.",
    )
    cores_taken = (
        MACHINES,
        f"other load used more than {OTHERS_CPU_INVALID:.0%} of the servers' cores (steal included)",
        "Stop other programs. If it is steal, choose a machine whose cores are not shared.",
    )
    cores_disturbed = (
        DOUBTFUL,
        f"other load used more than {OTHERS_CPU_DOUBTFUL:.0%} of the servers' cores (steal included)",
        "Stop other programs, or add blocks. If it is steal, choose a machine whose cores are not shared.",
    )
    machine_disturbed = (
        DOUBTFUL,
        f"other load used more than {OTHERS_CPU_DOUBTFUL:.0%} of the generator's core (steal included)",
        "Stop other programs on that host, or add blocks. If it is steal, choose a machine whose cores are not shared.",
    )
    frequency_changed = (
        DOUBTFUL,
        "the CPU's frequency differed from its frequency in the other trials",
        "Set the governor to performance and turn turbo off. `python -m loadtests doctor` shows how.",
    )
    shared_core = (
        DOUBTFUL,
        "the load generator and the servers shared a core and slowed each other down",
        "Measure on a machine with two or more cores.",
    )
    cost_unseen = (
        DOUBTFUL,
        "a service that counts towards the setup's cost ran outside the harness, so its CPU time and memory are "
        "unknown",
        "Unset REDIS_URL. The harness then starts Redis next to the setup and counts its cost.",
    )

    def __init__(self, kind: tuple[Severity, str], meaning: str, remedy: str) -> None:
        self.severity, self.whose = kind
        self.meaning = meaning
        self.remedy = remedy

    def flag(self, figures: str = "") -> Flag:
        """Return a trial's flag for this reason, with the figures that caused the flag."""
        detail = f" ({figures})" if figures else ""
        return Flag(self.name, self.severity.value, f"{self.meaning}{detail}. {self.remedy}")


# Flags of older runs that are ignored, because they changed no figure. Percentiles with too much generator delay are
# left out (``loadtests.plan.times.LATE``) without a flag.
RETIRED = frozenset({"send_lag_seen"})

# A run fails if the setup is responsible for a flag of the last trial in a block.
SETUPS_OWN, MACHINES_OWN = (frozenset(one for one in Reason if one.whose == whose) for whose in ("setup", "machine"))


# If a trial is invalid only for these reasons, its figures are shown as unverified, because other load or the load
# generator also affected them.
UNVERIFIED = MACHINES_OWN - {Reason.connection_lost, Reason.engine_failed, Reason.clock_jumped}


def is_unverified(flags: Iterable[Flag]) -> bool:
    """Return whether a trial with these flags is invalid only because of contention or the load generator."""
    invalid = {flag.reason for flag in flags if flag.invalid}
    return bool(invalid) and invalid <= {reason.name for reason in UNVERIFIED}


def is_setups_own(flags: Iterable[Flag]) -> bool:
    return not {reason.name for reason in SETUPS_OWN}.isdisjoint(flag.reason for flag in flags)


def machines_own(flags: Iterable[Flag]) -> set[Reason]:
    """Return the reasons that the machine or the load generator caused, or an empty set if the setup is at fault."""
    found = {flag.reason for flag in flags}
    if not {reason.name for reason in SETUPS_OWN}.isdisjoint(found):
        return set()
    return {reason for reason in MACHINES_OWN if reason.name in found}
