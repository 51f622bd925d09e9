"""supervisord for as long as something is served: started, asked over XML-RPC, stopped with all that it started."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from supervisor.xmlrpc import SupervisorTransport

from loadtests import files
from loadtests.cleanup import folders
from loadtests.cleanup.program import guarded, public_environment
from loadtests.errors import UserError
from loadtests.hosts.base import Program
from loadtests.setups.services import PASSWORD

# Variables that servers take options from: a setup is its file and the knobs, and nothing else.
TELL_SERVERS = ("GUNICORN_CMD_ARGS", "UVICORN_", "GRANIAN_", "UWSGI_", "FORWARDED_ALLOW_IPS")
STARTED_WITHIN_S = 10.0
STOPPED_WITHIN_S = 25.0
LOOK_EVERY_S = 0.02
LOG_LINES = 20
MOST_SAID = 4096  # bytes of what supervisord says when it does not start

# The same two lines that a person types (README).
# supervisord is always the harness's, whatever PATH the project that is served brings.
SUPERVISORD = Path(sys.executable).parent / "supervisord"
COMMAND = f'. supervisor/defaults.sh && exec "{SUPERVISORD}" --nodaemon -c "$PWD/supervisor/supervisord.conf"'


class Supervisor:
    """A supervisord of our own, in a private folder; a context manager.

    Takes the knobs as environment variables (see supervisor/defaults.sh). On leaving, whatever was started is stopped
    and the folder is removed; loadtests.cleanup.guard does the same should this process die.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = dict(env)
        self.folder = Path()
        self._guard: subprocess.Popen[bytes] | None = None
        self._rpc: Any = None
        self._transport: SupervisorTransport | None = None

    def __enter__(self) -> Supervisor:
        # In memory where there is such a place: the IPC layer's queues go below it.
        self.folder = folders.make("serve", memory=True)
        env = {
            **{name: value for name, value in public_environment(os.environ).items() if name != PASSWORD},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            **self.env,
            "RUN_DIR": str(self.folder),
            "GUARD_REMOVES": str(self.folder),
            "PYTHONUNBUFFERED": "1",
        }
        env = {name: value for name, value in env.items() if not name.startswith(TELL_SERVERS)}
        try:
            # Read through the same file: the guard removes the folder before it ends.
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
        """Starts the group without waiting for it to be ready."""
        self._rpc.startProcessGroup(group, False)

    def stop(self, group: str) -> None:
        """Stops the group and waits until its processes have ended. Raises UserError where they do not in
        STOPPED_WITHIN_S."""
        self._rpc.stopProcessGroup(group, False)
        end = time.monotonic() + STOPPED_WITHIN_S
        while any(program.pid for program in self.programs(group)):
            if time.monotonic() > end:
                raise UserError(f"{group} did not stop within {STOPPED_WITHIN_S:g} s; its file says how it is stopped")
            time.sleep(LOOK_EVERY_S)

    def programs(self, group: str) -> list[Program]:
        """The group's processes as supervisord sees them now."""
        return [
            Program(str(info["name"]), str(info["statename"]), int(info["pid"]), int(info["exitstatus"]))
            for info in self._rpc.getAllProcessInfo()
            if info["group"] == group
        ]

    def has(self, file: str) -> bool:
        """Whether a file of that name is in the folder."""
        return (self.folder / file).exists()

    def logs(self) -> str:
        """The ends of the programs' logs."""
        parts = []
        for file in sorted(self.folder.glob("*.log")):
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
            if lines and file.name != "supervisord.log":
                parts.append("\n".join([f"--- {file.name}", *lines]))
        return "\n".join(parts)

    def end(self) -> None:
        """Stops all that was started; nothing can be started then."""
        if self._transport is not None:
            self._transport.close()
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            try:
                self._guard.wait(STOPPED_WITHIN_S)
            except subprocess.TimeoutExpired:
                self._guard.kill()
                self._guard.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _connect(self, out: IO[bytes]) -> None:
        assert self._guard is not None
        url = f"unix://{self.folder / 'supervisor.sock'}"
        end = time.monotonic() + STARTED_WITHIN_S
        while time.monotonic() < end and self._guard.poll() is None:
            # A transport that failed once cannot be used again.
            transport = SupervisorTransport(None, None, url)
            self._rpc = xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport).supervisor
            with contextlib.suppress(OSError, xmlrpc.client.Error):
                self._rpc.getState()
                self._transport = transport
                return
            transport.close()
            time.sleep(0.05)
        words = os.pread(out.fileno(), MOST_SAID, 0).decode(errors="replace").split()
        raise UserError(f"supervisord did not start: {' '.join(words) or 'it said nothing'}")
