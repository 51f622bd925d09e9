"""Find problems that can disturb a measurement on two machines (``hosts check``). This module changes nothing."""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Iterable, Iterator

from loadtests import setups
from loadtests.errors import UserError
from loadtests.formatting import plural, series
from loadtests.hosts import deploy
from loadtests.hosts.link import Address
from loadtests.hosts.network import Clock, Network
from loadtests.hosts.ssh import Ssh
from loadtests.measure.doctor import MachineFinding, errors_first, judged, ok, warning
from loadtests.measure.host_options import SCHEME, SERVERS
from loadtests.observe import machine
from loadtests.setups.application.progress import Announce

# A page of the sample project takes about a millisecond. Above this limit, the measurement mostly shows the network.
ROUND_TRIP_MS = 1.0
MEGABITS_PER_S = 900.0  # below the speed of a gigabit network
CLOCK_S = 0.1
MAX_NAMED = 3


def prepare(where: str, progress: Announce, python: str | None = None, venv: str | None = None) -> list[MachineFinding]:
    """Copy the project to the host (``loadtests.hosts.deploy``), and compare the host with this machine.

    Raises:
        UserError: If a step fails.
    """
    if python is not None and venv is not None:
        raise UserError("--python is for a new virtual environment, --venv for an existing one. Leave one out")
    marker = deploy.prepare(address(where), progress, python, venv)
    progress("asking for its versions")
    with contextlib.closing(Ssh(address(where))) as host:
        return [_revision(marker.revision, marker.dirty), *_software(host)]


def examine(where: str, progress: Announce, role: str = SERVERS) -> list[MachineFinding]:
    """Return all findings about a prepared host and the network to it, with errors first.

    Args:
        where: The host.
        progress: Reports the steps.
        role: The host's role (see ``loadtests.measure.host_options``). This machine sends load only to servers.

    Raises:
        UserError: If the host can't be reached.
    """
    progress(f"connecting to {where}")
    with contextlib.closing(Ssh(address(where))) as host:
        return errors_first(_findings(host, progress, role == SERVERS))


def require_addresses(machines: Iterable[str]) -> None:
    """Check all addresses before connecting to any.

    Raises:
        UserError: If one isn't valid.
    """
    for where in machines:
        address(where)


def _findings(host: Ssh, progress: Announce, has_servers: bool) -> Iterator[MachineFinding]:
    yield _revision(host.facts.revision, host.facts.dirty)
    yield from _software(host)
    yield _clock(host.clock())
    if has_servers:
        yield ok(f"{plural(len(host.allot(None).servers), 'core')} there for the servers")
        for remark in host.remarks():
            yield warning(remark, "choose another address, or another host")
        progress("measuring the network")
        try:
            yield from _network(host.look(host.bind(), setups.port()))
        except UserError as error:
            yield MachineFinding("error", str(error))
    progress("inspecting the machine")
    for level, what, fix in host.findings():
        yield MachineFinding(level, f"there: {what}", fix)


def address(where: str) -> Address:
    """Parse an address such as ``ssh://user@host:port``.

    Raises:
        UserError: If it isn't valid.
    """
    if not where.startswith(SCHEME):
        raise UserError(f"{where}: not an SSH address. Write {SCHEME}user@host")
    return Address.parse(where.removeprefix(SCHEME))


def _revision(revision: str | None, dirty: bool | None) -> MachineFinding:
    short = revision[:12] if revision else "(not known)"
    if dirty:
        return warning(
            f"revision {short} with uncommitted changes, as on this machine",
            "commit the changes and prepare the host again, so that the run can be repeated",
        )
    return ok(f"revision {short}, as on this machine")


def _software(host: Ssh) -> Iterator[MachineFinding]:
    """Compare the software of both machines."""
    theirs, ours = host.facts.python, platform.python_version()
    if theirs == ours:
        yield ok(f"Python {ours} on both")
    else:
        fix = "the servers use theirs; to change it, run hosts prepare --python PATH"
        yield warning(f"Python {theirs} on the host, {ours} on this machine", fix)
    there, here = host.versions()["packages"], machine.versions()["packages"]
    other = sorted(name for name in there.keys() & here.keys() if there[name] != here[name])
    if other:
        named = series([f"{name} {there[name]} instead of {here[name]}" for name in other[:MAX_NAMED]])
        more = f" and {len(other) - MAX_NAMED} more" if len(other) > MAX_NAMED else ""
        yield warning(f"other versions: {named}{more}", "run make setup on this machine, hosts prepare for the other")
    else:
        yield ok("the same versions of all common packages")


def _clock(clock: Clock) -> MachineFinding:
    text = f"its clock differs by {clock.ahead_s * 1000:+.1f} ms from this machine's, ±{clock.within_s * 1000:.1f} ms"
    good = abs(clock.ahead_s) <= CLOCK_S + clock.within_s
    return judged(good, text, "synchronize both clocks with NTP (check with chronyc tracking)")


def _network(found: Network) -> Iterator[MachineFinding]:
    trip = f"the round trip of an empty answer takes {found.round_trip_ms:.2f} ms"
    fix = "put both machines into one wired network (or one zone or placement group)"
    yield judged(found.round_trip_ms <= ROUND_TRIP_MS, trip, fix)
    width = f"a long answer arrives at {found.megabits_per_s:,.0f} Mbit/s"
    fix = "the network can limit large answers; compare the bytes per second"
    yield judged(found.megabits_per_s >= MEGABITS_PER_S, width, fix)
