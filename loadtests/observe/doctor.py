"""Find problems on this machine that can distort a measurement, and suggest solutions, without changing anything."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from loadtests.errors import UserError
from loadtests.observe import machine, top_processes
from loadtests.setups import redis, require_knobs
from loadtests.workload import DEFAULT_ENGINE

BUSY = 0.10  # the share of all cores that other programs may use without distorting a measurement


@dataclasses.dataclass(frozen=True)
class MachineFinding:
    """A finding about a machine.

    ``level`` is ``ok``, ``warning`` (the problem can distort a measurement) or ``error`` (a measurement isn't
    possible). ``fix`` is a suggested solution.
    """

    level: str
    what: str
    fix: str = ""


def ok(what: str) -> MachineFinding:
    return MachineFinding("ok", what)


def warning(what: str, fix: str) -> MachineFinding:
    return MachineFinding("warning", what, fix)


def judged(good: bool, what: str, fix: str) -> MachineFinding:
    return ok(what) if good else warning(what, fix)


def examine(engines: Mapping[str, Callable[[], object]], watch_s: float = 1.0) -> list[MachineFinding]:
    """Return all findings, with errors first.

    Args:
        engines: Functions that raise UserError if an engine can't run, by the engine's name.
        watch_s: The seconds to watch the machine for other load.

    Raises:
        UserError: If a knob isn't valid.
    """
    require_knobs(os.environ, own=False)
    facts = machine.describe()
    return errors_first([*_engines(engines), *_cores(facts), *_of_servers(facts, watch_s)])


def examine_servers(watch_s: float = 1.0) -> list[MachineFinding]:
    """Return the findings on a machine that only runs servers."""
    return errors_first(_of_servers(machine.describe(), watch_s))


def errors_first(found: Iterable[MachineFinding]) -> list[MachineFinding]:
    return sorted(found, key=lambda finding: ("error", "warning", "ok").index(finding.level))


def possible(findings: Sequence[MachineFinding]) -> bool:
    """Return whether a measurement is possible."""
    return all(finding.level != "error" for finding in findings)


def _of_servers(facts: dict[str, Any], watch_s: float) -> Iterator[MachineFinding]:
    yield _redis()
    yield from _cpu(facts)
    yield _memory()
    yield from _limits(facts)
    yield other_load(watch_s)


def _engines(engines: Mapping[str, Callable[[], object]]) -> Iterator[MachineFinding]:
    for name, require in engines.items():
        try:
            require()
            yield ok(f"the engine {name} can run")
        except UserError as error:
            level = "error" if name == DEFAULT_ENGINE else "warning"  # studies can use a different engine
            yield MachineFinding(level, f"the engine {name} can't run: {error}")


def _redis() -> MachineFinding:
    if url := os.environ.get("REDIS_URL"):
        if (why := redis.refusal(url)) is not None:
            fix = "start Redis, or unset REDIS_URL so that the harness starts its own Redis"
            return warning(f"there is no Redis at REDIS_URL: {why}", fix)
        return ok("Redis is available at REDIS_URL, but the harness doesn't measure the cost of this Redis")
    if (version := redis.version()) is None:
        return warning("redis-server is missing: daphne-redis can't start", "install redis-server, or set REDIS_URL")
    return ok(f"Redis {version}")


def _cores(facts: dict[str, Any]) -> Iterator[MachineFinding]:
    allowed = len(facts["cores_allowed"])
    if allowed < 2:
        yield warning("one core: the load generator and the servers disturb each other", "measure on two or more cores")
    else:
        yield ok(f"{allowed} cores: the load generator can use its own core")


def _cpu(facts: dict[str, Any]) -> Iterator[MachineFinding]:
    if facts["smt"] == "on":
        yield warning(
            "SMT is on: two threads share a core, so the load generator and a server may share a core",
            "echo off | sudo tee /sys/devices/system/cpu/smt/control",
        )
    quota = facts["cgroup"].get("cpu.max") or "max"
    if quota.split()[0] != "max":
        yield warning(
            f"this control group's CPU time is limited (cpu.max {quota})",
            "run without a CPU limit, because a throttled process stops for milliseconds",
        )
    governor = facts["governor"]
    if governor is None:
        yield ok("no frequency governor is visible, which is normal in a virtual machine. An A/A pair shows the noise")
    elif governor != "performance":
        yield warning(f"the frequency governor is {governor}", "sudo cpupower frequency-set -g performance")
    if facts["turbo"] == "on":
        switch = (
            "write 1 to /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 to /sys/devices/system/cpu/cpufreq/boost"
        )
        yield warning("turbo is on, so the frequency depends on the temperature", switch)


def _memory() -> MachineFinding:
    free_mb = machine.available_memory_mb()
    fix = "close other programs, because swapping makes a trial invalid"
    return judged(free_mb >= 1024, f"{free_mb} MB of memory are free", fix)


def _limits(facts: dict[str, Any]) -> Iterator[MachineFinding]:
    files = facts["ulimit_open_files"]
    if 0 <= files < 4096:
        yield warning(f"a process can have at most {files} open files", "ulimit -n 65536")
    somaxconn = facts["sysctl"].get("net.core.somaxconn")
    if somaxconn and int(somaxconn) < 1024:
        yield warning(f"net.core.somaxconn is {somaxconn}", "sudo sysctl net.core.somaxconn=4096")
    ports = [int(port) for port in (facts["sysctl"].get("net.ipv4.ip_local_port_range") or "").split()]
    if len(ports) == 2 and ports[1] - ports[0] < 20000:
        yield warning(
            f"only {ports[1] - ports[0]} local ports: without keep-alive, each request occupies a port for a minute",
            "sudo sysctl net.ipv4.ip_local_port_range='10240 65535'",
        )


def other_load(watch_s: float = top_processes.WATCHED_S) -> MachineFinding:
    """Watch the machine for ``watch_s`` seconds, and report the programs that use its cores."""
    found = top_processes.watch(lambda _: time.sleep(watch_s))
    if found.of_all_cores > BUSY:
        return warning(
            f"other programs use {found.of_all_cores:.0%} of the cores; {found.sentence}",
            "stop other programs. If the cause is steal time, choose a machine whose cores aren't shared",
        )
    return ok(f"the cores are idle ({found.of_all_cores:.0%} busy)")
