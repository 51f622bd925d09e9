"""Prepare another machine (``hosts prepare``), and find problems that can distort a measurement (``hosts check``)."""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Iterable, Iterator

from loadtests import setups
from loadtests.errors import UserError
from loadtests.formatting import plural
from loadtests.hosts import deploy
from loadtests.hosts.link import Address
from loadtests.hosts.network import Network
from loadtests.hosts.ssh import Ssh
from loadtests.measure.host_options import SCHEME, SERVERS
from loadtests.observe.doctor import MachineFinding, errors_first, judged, ok, warning
from loadtests.setups.application.progress import Announce

# The sample project serves a page in about a millisecond. Above this limit, figures mostly describe the network.
ROUND_TRIP_MS = 1.0
MEGABITS_PER_S = 900.0  # a gigabit network reaches this speed


def prepare(where: str, progress: Announce, venv: str | None = None) -> list[MachineFinding]:
    """Copy the project to the host (``loadtests.hosts.deploy``), and compare the host with this machine.

    Raises:
        UserError: If a step fails.
    """
    marker = deploy.prepare(address(where), progress, venv)
    progress("comparing the versions")
    with contextlib.closing(Ssh(address(where))) as host:
        return [_revision(marker.revision, marker.dirty), _python(host)]


def examine(where: str, progress: Announce, role: str = SERVERS) -> list[MachineFinding]:
    """Return all findings about a prepared host and the network to it, with errors first.

    Args:
        where: The address of the host.
        progress: Reports the steps.
        role: The host's role (see ``loadtests.measure.host_options``). The network is measured only for SERVERS.

    Raises:
        UserError: If the host can't be reached.
    """
    progress(f"connecting to {where}")
    with contextlib.closing(Ssh(address(where))) as host:
        return errors_first(_findings(host, progress, role == SERVERS))


def require_addresses(machines: Iterable[str]) -> None:
    """Check the addresses of all machines before connecting to a machine.

    Raises:
        UserError: If an address isn't valid.
    """
    for where in machines:
        address(where)


def _findings(host: Ssh, progress: Announce, has_servers: bool) -> Iterator[MachineFinding]:
    yield _revision(host.facts.revision, host.facts.dirty)
    yield _python(host)
    if has_servers:
        yield ok(f"{plural(len(host.allot(None).servers), 'core')} for the servers on the host")
        for remark in host.remarks():
            yield warning(remark, "choose another address, or another host")
        progress("measuring the network")
        try:
            yield from _network(host.look(host.bind(), setups.port()))
        except UserError as error:
            yield MachineFinding("error", str(error))
    progress("inspecting the machine")
    for level, what, fix in host.findings():
        yield MachineFinding(level, f"on the host: {what}", fix)


def address(where: str) -> Address:
    """Parse an address such as ``ssh://user@host:port``.

    Raises:
        UserError: If the address isn't valid.
    """
    if not where.startswith(SCHEME):
        raise UserError(f"{where} is not an SSH address. Write {SCHEME}user@host")
    return Address.parse(where.removeprefix(SCHEME))


def _revision(revision: str | None, dirty: bool | None) -> MachineFinding:
    short = revision[:12] if revision else "(not known)"
    if dirty:
        return warning(
            f"revision {short} with uncommitted changes, as on this machine",
            "commit the changes and prepare the host again, so that others can repeat the run",
        )
    return ok(f"revision {short}, as on this machine")


def _python(host: Ssh) -> MachineFinding:
    """Compare the Python versions of both machines."""
    theirs, ours = host.facts.python, platform.python_version()
    fix = "the servers use the host's Python. To use another Python, run hosts prepare --venv PATH"
    return judged(theirs == ours, f"Python {theirs} on the host, {ours} on this machine", fix)


def _network(found: Network) -> Iterator[MachineFinding]:
    trip = f"the round trip of an empty answer takes {found.round_trip_ms:.2f} ms"
    fix = "connect both machines to the same wired network (or use the same zone or placement group)"
    yield judged(found.round_trip_ms <= ROUND_TRIP_MS, trip, fix)
    width = f"a long answer arrives at {found.megabits_per_s:,.0f} Mbit/s"
    fix = "the network can limit large answers, so compare the bytes per second"
    yield judged(found.megabits_per_s >= MEGABITS_PER_S, width, fix)
