"""What will disturb a measurement on this machine, and how to put it right. It changes nothing by itself."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from loadtests import engines
from loadtests.measure import open_files
from loadtests.observe import conditions, machine
from loadtests.plan.study import Study
from loadtests.setups import redis
from loadtests.workload import DEFAULT_ENGINE

BUSY = 0.10  # share of all cores that others may use before a measurement suffers


@dataclasses.dataclass(frozen=True)
class MachineFinding:
    """``level`` is ``ok``, ``warning`` (it disturbs) or ``error`` (nothing can be measured); ``fix`` is what to do."""

    level: str
    what: str
    fix: str = ""


def examine(watch_s: float = 1.0, study: Study | None = None) -> list[MachineFinding]:
    """All findings, the errors first. Watches the machine for ``watch_s`` seconds to see what else runs; says what a
    ``study`` needs, too, where one is given."""
    of_study = [] if study is None else [_open_files(study)]
    return _sorted([*_engines(), *_cores(machine.describe()), *_of_servers(watch_s), *of_study])


def examine_servers(watch_s: float = 1.0) -> list[MachineFinding]:
    """Likewise, of a machine that has only servers."""
    return _sorted(_of_servers(watch_s))


def _sorted(found: Iterable[MachineFinding]) -> list[MachineFinding]:
    return sorted(found, key=lambda finding: ("error", "warning", "ok").index(finding.level))


def _open_files(study: Study) -> MachineFinding:
    test = max(study.tests, key=open_files.needed)
    wanted, most = open_files.needed(test), open_files.allowed()
    needs = f"{study.name} needs {wanted:,} open files in a process, in its test {test.name}; {most:,} are allowed"
    return MachineFinding("ok", needs) if wanted <= most else MachineFinding("error", needs, open_files.fix(wanted))


def possible(findings: Sequence[MachineFinding]) -> bool:
    """Whether anything can be measured."""
    return all(finding.level != "error" for finding in findings)


def _of_servers(watch_s: float) -> Iterator[MachineFinding]:
    facts = machine.describe()
    yield from (
        *_redis(),
        *_quiet_cores(facts),
        *_frequency(facts),
        *_memory(facts),
        *_limits(facts),
        *_others(watch_s),
    )


def _engines() -> Iterator[MachineFinding]:
    for engine in engines.known().values():
        try:
            engine.require()
            yield MachineFinding("ok", f"the engine {engine.name} can run")
        except engines.EngineError as error:
            level = "error" if engine.name == DEFAULT_ENGINE else "warning"  # studies can do without the others
            yield MachineFinding(level, f"the engine {engine.name} cannot run: {error}")


def _redis() -> Iterator[MachineFinding]:
    version = redis.version()
    if os.environ.get("REDIS_URL"):
        yield MachineFinding("ok", "REDIS_URL names a Redis; what it costs is not seen by the harness")
    elif version is None:
        yield MachineFinding(
            "warning", "no redis-server: daphne-redis cannot be served", "install redis-server, or set REDIS_URL"
        )
    else:
        yield MachineFinding("ok", f"Redis {version}")


def _cores(facts: dict[str, Any]) -> Iterator[MachineFinding]:
    allowed = len(facts["cores_allowed"])
    if allowed < 2:
        yield MachineFinding(
            "warning", "one core: generator and servers disturb each other", "measure on two or more cores"
        )
    else:
        yield MachineFinding("ok", f"{allowed} cores: the generator has one of its own")


def _quiet_cores(facts: dict[str, Any]) -> Iterator[MachineFinding]:
    if facts["smt"] == "on":
        yield MachineFinding(
            "warning",
            "SMT is on: two threads share a core, and generator and servers may be neighbours",
            "echo off | sudo tee /sys/devices/system/cpu/smt/control",
        )
    quota = (facts["cgroup"].get("cpu.max") or "max").split()[0]
    if quota != "max":
        yield MachineFinding(
            "warning",
            f"this control group's CPU time is limited (cpu.max {facts['cgroup']['cpu.max']})",
            "run without a CPU limit: a throttled process stands still for milliseconds",
        )


def _frequency(facts: dict[str, Any]) -> Iterator[MachineFinding]:
    governor = facts["governor"]
    if governor is None:
        yield MachineFinding(
            "ok", "no frequency governor is visible (usual in a virtual machine): noise shows in the A/A pair"
        )
    elif governor != "performance":
        yield MachineFinding("warning", f"the governor is {governor}", "sudo cpupower frequency-set -g performance")
    if facts["turbo"] == "on":
        intel = Path("/sys/devices/system/cpu/intel_pstate/no_turbo")
        fix = (
            f"echo 1 | sudo tee {intel}"
            if intel.exists()
            else "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
        )
        yield MachineFinding("warning", "turbo is on: the frequency follows the temperature", fix)


def _memory(facts: dict[str, Any]) -> Iterator[MachineFinding]:
    free_mb = machine.available_memory_mb()
    if free_mb < 1024:
        yield MachineFinding(
            "warning", f"{free_mb} MB of memory are free", "close other programs; swapping spoils a trial"
        )
    else:
        yield MachineFinding("ok", f"{free_mb} MB of memory are free")
    if facts["swap_mb"]:
        yield MachineFinding("ok", "there is swap; a trial in which pages were swapped is invalid")


def _limits(facts: dict[str, Any]) -> Iterator[MachineFinding]:
    files = facts["ulimit_open_files"]
    if 0 <= files < 4096:
        yield MachineFinding("warning", f"at most {files} open files", "ulimit -n 65536")
    somaxconn = facts["sysctl"].get("net.core.somaxconn")
    if somaxconn and int(somaxconn) < 1024:
        yield MachineFinding("warning", f"net.core.somaxconn is {somaxconn}", "sudo sysctl net.core.somaxconn=4096")
    ports = (facts["sysctl"].get("net.ipv4.ip_local_port_range") or "").split()
    if len(ports) == 2 and int(ports[1]) - int(ports[0]) < 20000:
        yield MachineFinding(
            "warning",
            f"{int(ports[1]) - int(ports[0])} local ports: without keep-alive each request takes one for a minute",
            "sudo sysctl net.ipv4.ip_local_port_range='10240 65535'",
        )


def _others(watch_s: float) -> Iterator[MachineFinding]:
    cores = sorted(os.sched_getaffinity(0))
    first = conditions.now(cores)
    time.sleep(watch_s)
    seen = conditions.between(first, conditions.now(cores), cores, own_cpu_s=0.0)
    if seen.others_cpu > BUSY:
        yield MachineFinding(
            "warning",
            f"{seen.others_cpu:.0%} of the cores are busy already (steal included)",
            "stop other programs (top shows them); with steal, choose a machine whose cores are not shared",
        )
    else:
        yield MachineFinding("ok", f"the cores are idle ({seen.others_cpu:.0%} busy)")
