"""Record the stacks of a process with py-spy, in the file format of https://www.speedscope.app.

py-spy shows all threads, including waiting threads. It isn't used to count CPU time, because it stops one thread after
another. The stacks of threads that pass work to each other can change before py-spy has read all threads
(docs/profiling.rst).
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from loadtests import files
from loadtests.observe.cores import pinned
from loadtests.profile.stacks import Reader

RATE = 20  # samples per second; at py-spy's default of 100, an ASGI server with its many threads becomes too slow
ENDED_WITHIN_S = 10.0


def executable() -> str | None:
    """Return the path of py-spy, or None if it isn't installed."""
    installed = Path(sys.executable).parent / "py-spy"
    return str(installed) if installed.exists() else shutil.which("py-spy")


class Spy:
    """Record one process with py-spy.

    Args:
        pid: The process id.
        file: The file for speedscope. It isn't written if py-spy fails.
        core: The core for py-spy, which should not be a core of the servers.
    """

    def __init__(self, pid: int, file: Path, core: int | None) -> None:
        self.file = file
        program = executable()
        self._process: subprocess.Popen[str] | None = None
        if program is None:
            return
        command = [program, "record", "--pid", str(pid), "--output", str(file), "--format", "speedscope"]
        command += ["--rate", str(RATE), "--idle", "--threads", "--function"]
        with pinned(core):
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,  # so that Ctrl-C reaches only this process, which then ends py-spy
            )

    def end(self, reader: Reader) -> str:
        """Stop py-spy and shorten the paths in its file.

        Args:
            reader: The reader that makes paths relative to the project's or the packages' folder.

        Returns:
            The reason why there is no file, or an empty string.
        """
        if self._process is None:
            return "py-spy is not installed: run `make setup`"
        self._process.send_signal(signal.SIGINT)
        try:
            output, _ = self._process.communicate(timeout=ENDED_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            output, _ = self._process.communicate()
        if not self.file.exists():
            return why(output)
        recorded = json.loads(self.file.read_text(encoding="utf-8"))
        for frame in recorded["shared"]["frames"]:
            frame["file"] = reader.frame(frame["name"], frame["file"] or "").file
        files.write_json(self.file, recorded)
        return ""


def why(output: str, yama: Path = Path("/proc/sys/kernel/yama/ptrace_scope")) -> str:
    """Return the reason for a failure of py-spy in one line, with a remedy if the output suggests a remedy."""
    if "permission" in output.lower() or "EPERM" in output:
        scope = yama.read_text().strip() if yama.exists() else "0"
        if scope == "3":
            return "py-spy may not inspect processes: kernel.yama.ptrace_scope is 3, and only a reboot can change it"
        cause = "CAP_SYS_PTRACE is needed" if scope == "0" else f"kernel.yama.ptrace_scope is {scope}"
        return (
            f"py-spy may not inspect other processes ({cause}). Run `sudo setcap cap_sys_ptrace+ep {executable()}`, "
            f"or start the container with --cap-add SYS_PTRACE"
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    error = next((line for line in lines if line.startswith("Error")), lines[-1] if lines else "it printed nothing")
    return f"py-spy: {error}"
