"""Start a supervisord on this machine, call it over XML-RPC, and stop everything that it started."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import psutil
from supervisor.xmlrpc import Faults, SupervisorTransport

from loadtests import files
from loadtests.cleanup import folders
from loadtests.cleanup.program import guarded, public_environment
from loadtests.errors import TRACEBACK, UserError, shown_end
from loadtests.hosts.base import Program
from loadtests.setups import prefixed, without_servers

# Environment variables with server options. Only a setup's file and its knobs may configure a server.
SERVER_VARIABLES = ("GUNICORN_CMD_ARGS", "UVICORN_", "GRANIAN_", "UWSGI_", "FORWARDED_ALLOW_IPS")
STARTED_WITHIN_S = 10.0
STOPPED_WITHIN_S = 25.0
LOOK_EVERY_S = 0.02
LOG_LINES, MAX_LOG_LINES = 20, 200
MAX_READ = 2**20  # the number of bytes that are read from supervisord's output if supervisord doesn't start

# COMMAND is the command in docs/setups.rst that starts supervisord. It always starts the harness's supervisord, even if
# the served project has its own PATH.
SUPERVISORD = Path(sys.executable).parent / "supervisord"
# pip can install commands into a folder other than Python's, such as ~/.local/bin.
DAEMON = f'"{SUPERVISORD}"' if SUPERVISORD.exists() else f'"{sys.executable}" -m supervisor.supervisord'
COMMAND = f'. supervisor/defaults.sh && exec {DAEMON} --nodaemon -c "$PWD/supervisor/supervisord.conf"'


class Supervisor:
    """A supervisord in a private folder, as a context manager. See ``loadtests.hosts.base.Supervised``.

    When the context ends, everything that supervisord started is stopped, and the folder is removed. If this process
    dies, loadtests.cleanup.guard does the same.

    Args:
        env: The environment variables. The names of the servers' knobs have a prefix (see supervisor/defaults.sh).
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = dict(env)
        self.folder = Path()
        self._guard: subprocess.Popen[bytes] | None = None
        self._rpc: Any = None
        self._transport: SupervisorTransport | None = None

    def __enter__(self) -> Supervisor:
        # The folder is in memory if possible, because it contains the queues of the IPC layer.
        self.folder = folders.make("serve", memory=True)
        env = {
            **_of_this_process(),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            **self.env,
            "BENCH_PYTHON": sys.executable,
            "RUN_DIR": str(self.folder),
            "GUARD_REMOVES": str(self.folder),
            "PYTHONUNBUFFERED": "1",
        }
        env = {
            name: value.replace("$RUN_DIR", str(self.folder))
            for name, value in env.items()
            if not name.startswith(SERVER_VARIABLES)
        }
        try:
            # Errors are read through the same file object, because the folder is removed before the guard ends.
            with open(self.folder / "supervisord.out", "w+b") as out:
                self._guard = subprocess.Popen(
                    guarded(["sh", "-c", COMMAND]),
                    stdin=subprocess.PIPE,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    cwd=files.SUPERVISOR.parent,
                    env=env,
                )
                self._connect(out)
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def start(self, group: str) -> None:
        self._call("startProcess" if ":" in group else "startProcessGroup", group, False)

    def stop(self, group: str) -> None:
        self._call("stopProcess" if ":" in group else "stopProcessGroup", group, False)
        end = time.monotonic() + STOPPED_WITHIN_S
        while any(program.pid for program in self.programs(group)):
            if time.monotonic() > end:
                raise UserError(f"{group} did not stop within {STOPPED_WITHIN_S:g} s. Check its supervisor file")
            time.sleep(LOOK_EVERY_S)

    def programs(self, group: str) -> list[Program]:
        return [
            Program(str(info["name"]), str(info["statename"]), int(info["pid"]), int(info["exitstatus"]))
            for info in self._call("getAllProcessInfo")
            if group in (info["group"], f"{info['group']}:{info['name']}")
        ]

    def signal(self, pid: int, name: str) -> None:
        assert self._guard is not None
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in psutil.Process(self._guard.pid).children(recursive=True):
                if process.pid == pid:
                    return process.send_signal(signal.Signals[f"SIG{name}"])
        raise UserError(f"the signal {name} can't be sent to process {pid}, which no longer belongs to the setup")

    def has(self, file: str) -> bool:
        return file in os.listdir(self.folder)

    def read(self, file: str) -> str:
        try:
            return (self.folder / Path(file).name).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise UserError(f"the server's file {file} can't be read: {error.strerror}") from None

    def logs(self) -> str:
        parts = []
        for file in sorted(self.folder.glob("*.log")):
            lines = _end(file.read_text(encoding="utf-8", errors="replace").splitlines())
            if lines and file.name != "supervisord.log":
                parts.append("\n".join([f"--- {file.name}", *lines]))
        return "\n".join(parts)

    def end(self) -> None:
        """Stop supervisord and everything that it started, and remove the folder."""
        if self._transport is not None:
            self._transport.close()
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            try:
                self._guard.wait(STOPPED_WITHIN_S)
            except subprocess.TimeoutExpired:
                self._guard.kill()
                self._guard.wait()
            if self._guard.returncode:
                folders.end_processes(str(self.folder))
        shutil.rmtree(self.folder, ignore_errors=True)

    def _call(self, method: str, *given: Any) -> Any:
        """Call a method of supervisord.

        Raises:
            UserError: If supervisord has ended or is ending.
        """
        try:
            return getattr(self._rpc, method)(*given)
        except (OSError, http.client.HTTPException, xmlrpc.client.Error) as error:
            if isinstance(error, xmlrpc.client.Fault) and error.faultCode != Faults.SHUTDOWN_STATE:
                raise
            raise UserError("another program ended supervisord and all its programs") from None

    def _connect(self, out: IO[bytes]) -> None:
        assert self._guard is not None
        url = f"unix://{self.folder / 'supervisor.sock'}"
        end = time.monotonic() + STARTED_WITHIN_S
        while time.monotonic() < end and self._guard.poll() is None:
            # A transport can't be used again after a failure.
            transport = SupervisorTransport(None, None, url)
            self._rpc = xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport).supervisor
            with contextlib.suppress(OSError, xmlrpc.client.Error):
                self._rpc.getState()
                self._transport = transport
                return
            transport.close()
            time.sleep(0.05)
        lines = os.pread(out.fileno(), MAX_READ, 0).decode(errors="replace").split("\n")
        last = next((line for line in reversed(lines) if line.strip()), "it printed nothing")
        raise UserError(f"supervisord did not start: {shown_end(last.strip())}")


def _of_this_process() -> dict[str, str]:
    """Return the environment variables of this process, with a prefix in the names of knobs."""
    env = public_environment(os.environ)
    knobs = {name: value for name, value in prefixed(env).items() if name not in env}
    return {**without_servers(env), **knobs}


def _end(lines: list[str]) -> list[str]:
    """Return the last lines of a log, with the whole last traceback."""
    last = lines[-MAX_LOG_LINES:]
    begun = [place for place, line in enumerate(last) if TRACEBACK in line]
    return last[min(begun[-1] if begun else len(last), max(0, len(last) - LOG_LINES)) :]
