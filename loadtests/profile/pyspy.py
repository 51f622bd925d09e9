"""py-spy: looks at all threads of a process from outside, those that wait as well.

It is not what the CPU time is counted with. It stops one thread after another, so that by the time it reads the last
one, threads that hand work to each other have moved on; docs/profiling.rst has the figures.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from loadtests.observe.cores import pinned
from loadtests.profile.stacks import Frame, Reader, Stacks

RATE = 20  # samples a second: at its usual 100 an ASGI server, with its many threads, falls behind
ENDED_WITHIN_S = 10.0

_FRAME = re.compile(r"(.*) \((.*?)(?::(\d+))?\)")
_COUNTS = re.compile(r"Samples: (\d+) Errors: (\d+)")


@dataclasses.dataclass(frozen=True)
class Threads:
    """All threads of one process, looked at ``looks`` times; or why there is nothing (``failure``, a line)."""

    stacks: Stacks
    looks: int
    errors: int = 0
    failure: str = ""


def executable() -> str | None:
    """The path of py-spy; None where it is not installed."""
    installed = Path(sys.executable).parent / "py-spy"
    return str(installed) if installed.exists() else shutil.which("py-spy")


class Spy:
    """py-spy at work on one process. ``core`` is where it runs (off the servers' cores), None anywhere."""

    def __init__(self, pid: int, file: Path, core: int | None) -> None:
        self.file = file
        program = executable()
        self._process: subprocess.Popen[str] | None = None
        if program is None:
            return
        command = [program, "record", "--pid", str(pid), "--output", str(file), "--format", "raw"]
        command += ["--rate", str(RATE), "--idle", "--threads", "--function", "--full-filenames"]
        with pinned(core):
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,  # Ctrl-C is for this process, which then ends its own
            )

    def end(self, reader: Reader) -> Threads:
        """Ends it and reads what it saw."""
        if self._process is None:
            return Threads(Counter(), 0, failure="py-spy is not installed: run `make setup`")
        self._process.send_signal(signal.SIGINT)
        try:
            output, _ = self._process.communicate(timeout=ENDED_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            output, _ = self._process.communicate()
        counts = _COUNTS.search(output)
        if counts is None or not self.file.exists():
            return Threads(Counter(), 0, failure=why(output))
        stacks, looks = parse(self.file.read_text(encoding="utf-8", errors="replace"), reader)
        return Threads(stacks, looks, int(counts[2]))


def parse(text: str, reader: Reader) -> tuple[Stacks, int]:
    """The stacks, and how often it looked: as often as it saw the main thread."""
    stacks: Stacks = Counter()
    looks = 0
    for line in text.splitlines():
        joined, _, count = line.rpartition(" ")
        thread, *frames = joined.split(";")
        stacks[tuple(_frame(frame, reader) for frame in frames)] += int(count)
        looks += int(count) if thread.endswith(": MainThread") else 0
    return stacks, looks


def _frame(text: str, reader: Reader) -> Frame:
    match = _FRAME.fullmatch(text)
    if match is None:
        return Frame(text, "")
    return reader.frame(match[1], match[2], int(match[3] or 0))


def why(output: str, yama: Path = Path("/proc/sys/kernel/yama/ptrace_scope")) -> str:
    """What to do about a failure of py-spy, in a line, from its output."""
    if "permission" in output.lower() or "EPERM" in output:
        scope = yama.read_text().strip() if yama.exists() else "0"
        if scope == "3":
            return "py-spy may not look into processes, and kernel.yama.ptrace_scope=3 holds until the next boot"
        cause = "CAP_SYS_PTRACE is needed" if scope == "0" else f"kernel.yama.ptrace_scope is {scope}"
        return (
            f"py-spy may not look into other processes ({cause}): run "
            f"`sudo setcap cap_sys_ptrace+ep {executable()}`, or in a container start it with --cap-add SYS_PTRACE"
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    error = next((line for line in lines if line.startswith("Error")), lines[-1] if lines else "it printed nothing")
    return f"py-spy: {error}"
