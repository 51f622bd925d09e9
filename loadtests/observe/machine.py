"""Describe the machine and its software for the results."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import platform
import re
import resource
import shutil
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil

from loadtests import files
from loadtests.files import ROOT
from loadtests.setups import environment, redis
from loadtests.setups.needs import SYSTEM

SYSCTLS = (
    "net.core.somaxconn",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_migrate_req",
    "net.ipv4.ip_local_port_range",
    "vm.swappiness",
)


def describe() -> dict[str, Any]:
    """Describe the CPU, memory, kernel and limits of the machine. Unknown values are None."""
    cpu = _cpuinfo()
    system = Path("/sys/devices/system/cpu")
    return {
        "cpu": cpu.get("model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "cores_allowed": sorted(os.sched_getaffinity(0)),
        "cores_physical": psutil.cpu_count(logical=False),
        "smt": _read(system / "smt" / "control"),
        "governor": _read(system / "cpu0" / "cpufreq" / "scaling_governor"),
        "turbo": _turbo(system),
        "mhz": float(cpu["cpu MHz"]) if "cpu MHz" in cpu else None,
        "steal_s_since_boot": psutil.cpu_times().steal,
        "memory_mb": round(psutil.virtual_memory().total / 2**20),
        "swap_mb": round(psutil.swap_memory().total / 2**20),
        "kernel": f"{platform.system()} {platform.release()}",
        "distribution": _distribution(),
        "virtualization": _virtualization(cpu),
        "container": _container(),
        "cgroup": _cgroup(),
        "clocksource": _read(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        "sysctl": {name: _read(Path("/proc/sys") / name.replace(".", "/")) for name in SYSCTLS},
        "ulimit_open_files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    }


def versions() -> dict[str, Any]:
    """Return the versions of Python, Node, OpenSSL, servers, and all installed packages."""
    found = reversed([*importlib.metadata.distributions()])  # if a package exists twice, Python imports its first copy
    packages = {dist.metadata["Name"]: dist.version for dist in found}
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "gil": getattr(sys, "_is_gil_enabled", lambda: True)(),
        "openssl": ssl.OPENSSL_VERSION,
        "node": _output(environment.node() or "node", "--version"),
        "redis": redis.version(),
        "nginx": _version("nginx", "-v"),
        "apache": _version("apache2", "-v") or _version("httpd", "-v"),
        "packages": dict(sorted(packages.items(), key=lambda item: item[0].lower())),
        "node_packages": _node_packages(),
    }


def git() -> dict[str, Any]:
    """Return this project's revision and whether there are uncommitted changes. Values that git can't find are None."""
    if files.INSTALLED:  # a repository that contains the environment is the user's, not this project's
        return {"revision": None, "dirty": None}
    status = _output("git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no")
    revision = _output("git", "-C", str(ROOT), "rev-parse", "HEAD")
    return {"revision": revision, "dirty": None if status is None else status != ""}


def boot() -> str:
    """Return the boot id, which is unique to the machine and the boot (random(4))."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def available_memory_mb() -> int:
    """Return the memory in MB that programs could still use."""
    return int(psutil.virtual_memory().available // 2**20)


def _cpuinfo() -> dict[str, str]:
    first = _text(Path("/proc/cpuinfo")).split("\n\n")[0]
    pairs = (line.split(":", 1) for line in first.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def _turbo(system: Path) -> str | None:
    intel = _read(system / "intel_pstate" / "no_turbo")
    if intel is not None:
        return "off" if intel == "1" else "on"
    boost = _read(system / "cpufreq" / "boost")
    return None if boost is None else ("on" if boost == "1" else "off")


def _distribution() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _cgroup() -> dict[str, str | None]:
    """Return the limits of this process's control group (cgroups(7), version 2)."""
    own = next((line[3:] for line in _text(Path("/proc/self/cgroup")).splitlines() if line.startswith("0::")), "/")
    folder = Path("/sys/fs/cgroup") / own.lstrip("/")
    return {name: _read(folder / name) for name in ("cpu.max", "memory.max", "cpuset.cpus.effective")}


def _virtualization(cpu: dict[str, str]) -> str:
    if " hypervisor" not in f" {cpu.get('flags', '')}":
        return "none seen"
    return _output("systemd-detect-virt", "--vm") or _read(Path("/sys/hypervisor/type")) or "virtual machine"


def _container() -> str:
    if Path("/.dockerenv").exists():
        return "docker"
    if Path("/run/.containerenv").exists():
        return "podman"
    return os.environ.get("container") or "none seen"  # noqa: SIM112 - the name that systemd uses


def _node_packages() -> dict[str, str]:
    found = {}
    for file in (ROOT / "node_modules").glob("**/package.json"):
        if file.parent.parent.name == "node_modules" or file.parent.parent.parent.name == "node_modules":
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                about = json.loads(file.read_text(encoding="utf-8"))
                found[str(about["name"])] = str(about["version"])
    return dict(sorted(found.items()))


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _version(program: str, option: str) -> str | None:
    """Return the version that an installed server prints (nginx prints to stderr), or None if it isn't installed."""
    path = shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *SYSTEM]))
    if path is None:
        return None
    printed = subprocess.run([path, option], capture_output=True, text=True, check=False)
    match = re.search(r"/(\d[\w.]*)", printed.stdout + printed.stderr)
    return match[1] if match else None


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _read(file: Path) -> str | None:
    """Return the kernel setting in a file as one line, or None if the file is empty or can't be read."""
    return " ".join(_text(file).split()) or None
