"""What will disturb a measurement on two machines, and how to put it right: ``hosts check``. It changes nothing."""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Iterable, Iterator

from loadtests import setups
from loadtests.errors import UserError
from loadtests.formatting import plural, series
from loadtests.hosts import deploy
from loadtests.hosts.facts import Clock
from loadtests.hosts.link import Address
from loadtests.hosts.network import Network
from loadtests.hosts.ssh import Ssh
from loadtests.measure.doctor import MachineFinding
from loadtests.measure.host_options import SERVERS
from loadtests.observe import machine
from loadtests.setups.application.progress import Announce

PREFIX = "ssh://"
# A page of the sample project takes about a millisecond: above this, what is measured is the network.
ROUND_TRIP_MS = 1.0
MEGABITS_PER_S = 900.0  # of a network of a gigabit per second
CLOCK_S = 0.1
MOST_NAMED = 3


def prepare(where: str, told: Announce, python: str | None = None, venv: str | None = None) -> list[MachineFinding]:
    """Brings the project to the host (see ``loadtests.hosts.deploy``), and says how like this one it then is. Raises
    UserError."""
    if python is not None and venv is not None:
        raise UserError("--python is for a new virtual environment, --venv for one that is there; leave one out")
    marker = deploy.prepare(address(where), told, python, venv)
    told("asking for its versions")
    with contextlib.closing(Ssh(address(where))) as host:
        return [_brought(marker.revision, marker.dirty), *_alike(host)]


def examine(where: str, told: Announce, role: str = SERVERS) -> list[MachineFinding]:
    """All findings on a host that is prepared, and on the way to it, the errors first. ``role`` is what the host is for
    (see ``loadtests.measure.host_options``): from here, load goes to servers only. Raises UserError."""
    told(f"connecting to {where}")
    with contextlib.closing(Ssh(address(where))) as host:
        found = list(_findings(host, told, role == SERVERS))
    return sorted(found, key=lambda one: ("error", "warning", "ok").index(one.level))


def require_addresses(machines: Iterable[str]) -> None:
    """Raises UserError, before anybody is asked, where one is no address."""
    for where in machines:
        address(where)


def _findings(host: Ssh, told: Announce, has_servers: bool) -> Iterator[MachineFinding]:
    yield _brought(host.facts.revision, host.facts.dirty)
    yield from _alike(host)
    yield from _clock(host.clock())
    if has_servers:
        yield MachineFinding("ok", f"{plural(len(host.allot(None).servers), 'core')} there for the servers")
        for remark in host.remarks():
            yield MachineFinding("warning", remark, "choose another address, or another host")
        told("measuring the network")
        try:
            yield from _network(host.look(host.bind(), setups.port()))
        except UserError as error:
            yield MachineFinding("error", str(error))
    told("looking at the machine there")
    for level, what, fix in host.findings():
        yield MachineFinding(level, f"there: {what}", fix)


def address(where: str) -> Address:
    """The address in ``ssh://user@host:port``. Raises UserError."""
    if not where.startswith(PREFIX):
        raise UserError(f"{where}: another machine is reached over SSH: write {PREFIX}user@host")
    return Address.parse(where.removeprefix(PREFIX))


def _brought(revision: str | None, dirty: bool | None) -> MachineFinding:
    if dirty:
        return MachineFinding(
            "warning",
            f"there is revision {_short(revision)} with changes that are not committed, as here",
            "commit them and prepare it again: what cannot be checked out cannot be repeated",
        )
    return MachineFinding("ok", f"there is revision {_short(revision)}, as here")


def _short(revision: str | None) -> str:
    return revision[:12] if revision else "(not known)"


def _alike(host: Ssh) -> Iterator[MachineFinding]:
    """Whether the software is the same there."""
    theirs, ours = host.facts.python, platform.python_version()
    if theirs == ours:
        yield MachineFinding("ok", f"Python {ours} on both")
    else:
        fix = "the servers' is the one that counts; hosts prepare --python PATH takes another"
        yield MachineFinding("warning", f"Python {theirs} there, {ours} here", fix)
    there, here = host.versions()["packages"], machine.versions()["packages"]
    other = sorted(name for name in there.keys() & here.keys() if there[name] != here[name])
    if other:
        named = series([f"{name} {there[name]} there, {here[name]} here" for name in other[:MOST_NAMED]])
        more = f" and {len(other) - MOST_NAMED} more" if len(other) > MOST_NAMED else ""
        yield MachineFinding("warning", f"other versions: {named}{more}", "make setup here, hosts prepare for there")
    else:
        yield MachineFinding("ok", "the same versions of all packages that both have")


def _clock(clock: Clock) -> Iterator[MachineFinding]:
    text = f"its clock is {clock.ahead_s * 1000:+.1f} ms from ours, known to {clock.within_s * 1000:.1f} ms"
    if abs(clock.ahead_s) > CLOCK_S + clock.within_s:
        yield MachineFinding("warning", text, "have both keep time by NTP (chronyc tracking)")
    else:
        yield MachineFinding("ok", text)


def _network(seen: Network) -> Iterator[MachineFinding]:
    trip = f"a bare answer takes {seen.round_trip_ms:.2f} ms, there and back"
    if seen.round_trip_ms > ROUND_TRIP_MS:
        yield MachineFinding("warning", trip, "put both into one network (one zone, one placement group), by cable")
    else:
        yield MachineFinding("ok", trip)
    width = f"a long answer comes at {seen.megabits_per_s:,.0f} Mbit/s"
    if seen.megabits_per_s < MEGABITS_PER_S:
        yield MachineFinding("warning", width, "of what is large, the network is the limit: watch the bytes per second")
    else:
        yield MachineFinding("ok", width)
