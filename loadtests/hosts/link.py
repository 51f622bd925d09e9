"""Connect to an agent on another machine over SSH, and call its methods one after the other.

The connection uses the user's ``ssh``, configuration and keys. It isn't shared with the user's other connections, never
prompts, and doesn't forward ports. The only exception is the connection of a load worker, which forwards one loopback
port of the other machine (``Address.command``).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shlex
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from loadtests.errors import UserError, called, shown, shown_end
from loadtests.hosts import wire
from loadtests.hosts.base import ConnectionLost
from loadtests.hosts.error_tail import ErrorTail

T = TypeVar("T")

CONNECT_S = 10
ANSWERED_WITHIN_S = 60.0
CLOSED_WITHIN_S = 30.0  # before the agent exits, it stops everything that it started
GONE_WITHIN_S = 2.0
MAX_REFUSED = 1000  # The maximum length of the agent's message.
NOT_PREPARED = 69  # The exit status on an unprepared machine (sysexits(3), EX_UNAVAILABLE).
SSH_FAILED = 255
# This folder, in the home folder on the other machine, contains the copied tree, the marker and a lock.
FOLDER = ".django-serving-benchmark"
MARKER = "marker.json"
LOCK = "lock"
OPTIONS = {
    "BatchMode": "yes",
    "ControlMaster": "no",
    "ControlPath": "none",
    "ClearAllForwardings": "yes",
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "PermitLocalCommand": "no",
    "RemoteCommand": "none",
    "RequestTTY": "no",
    "ConnectTimeout": str(CONNECT_S),
    "ServerAliveInterval": str(wire.ALIVE_INTERVAL_S),
    "ServerAliveCountMax": str(wire.ALIVE_COUNT),
}
REMEDIES = {
    "verification failed": " Check the machine's host key, then connect once with ssh to accept the key",
    "denied": " SSH needs a key that works without a prompt: load it with ssh-add, or set it in ~/.ssh/config",
}
# Lines that programs print after the reason for a failure.
_AFTERWARDS = re.compile(r"make(\[\d+\])?: (\*\*\* \[.*\] Error \d+$|Leaving directory )|tar: (Exiting|Error) ")
_ADDRESS = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]*)@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?\]|[A-Za-z0-9_][A-Za-z0-9_.-]*)(?::(?P<port>[0-9]{1,5}))?/?"
)


@dataclass(frozen=True)
class Address:
    """An SSH destination: a host, or an alias in the user's configuration, with an optional user and port."""

    host: str
    user: str | None = None
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse ``user@host:port``. An IPv6 address must be in brackets.

        Raises:
            UserError: If the text isn't valid.
        """
        match = _ADDRESS.fullmatch(text)
        port = int(match["port"]) if match and match["port"] else None
        if match is None or (port is not None and not 1 <= port <= 65_535):
            raise UserError(f"ssh://{shown(text)}: write ssh://user@host or ssh://user@host:port (IPv6 in brackets)")
        return cls(match["host"].strip("[]"), match["user"], port)

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ssh://{user}{host}{f':{self.port}' if self.port else ''}"

    def command(self, script: str, back: tuple[int, int] | None = None) -> list[str]:
        """Return the command that runs a script in sh on the machine.

        The environment variable SSH_COMMAND replaces ``ssh``, and can contain options (``ssh -F file``).

        Args:
            script: The script to run.
            back: A loopback port on the machine, and the port on this machine to which SSH forwards it.
        """
        ssh = shlex.split(os.environ.get("SSH_COMMAND") or "ssh")
        options = [word for name, value in OPTIONS.items() for word in ("-o", f"{name}={value}")]
        if back is not None:  # ClearAllForwardings would also clear this forwarding
            options[options.index("ClearAllForwardings=yes")] = "ClearAllForwardings=no"
            options += ["-R", "127.0.0.1:{}:127.0.0.1:{}".format(*back)]
        user = ["-l", self.user] if self.user else []
        port = ["-p", str(self.port)] if self.port else []
        return [*ssh, "-T", *options, *user, *port, "--", self.host, f"exec sh -c {shlex.quote(script)}"]


def in_tree(command: str) -> str:
    """Return the shell script that runs a command in the tree that `hosts prepare` copied."""
    there = f'cd "$HOME/{FOLDER}/tree" 2>/dev/null && [ -f ../{MARKER} ] || exit {NOT_PREPARED}'
    return f"{there}; {refuse_others('.. .', '.venv/ .venv/bin/')}; exec {command}"


def refuse_others(own: str, shared: str = "") -> str:
    """Return shell commands that fail if other users may write to the folders that contain programs.

    The commands don't fail if the ``shared`` folders, such as an administrator's virtual environment, belong to
    another user, or if the group of these folders may write to them.
    """
    others = f'find {own} -prune \\( -perm /022 -o ! -user "$(id -u)" \\)'
    if shared:
        others += f"; find {shared} -prune -perm /002"
    why = f"other users can write to ~/{FOLDER} or its virtual environment"
    return f'[ -z "$({others})" ] || {{ echo "{why}. Remove the folder, and prepare the machine again" >&2; exit 1; }}'


def failure(address: Address, status: int, errors: str) -> UserError:
    """Return the error that explains why a command on a machine failed.

    Args:
        address: The address of the machine.
        status: The exit status of the command.
        errors: The standard error of the command.
    """
    if status == NOT_PREPARED:
        return UserError(f"{address} is not prepared. Run {called()} hosts prepare {address}")
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    lines = [line for line in lines if not _AFTERWARDS.match(line)] or lines
    why = shown_end(lines[-1]) if lines else f"the command ended with status {status} and no message"
    remedy = ""
    if status == SSH_FAILED:
        remedy = next((remedy for word, remedy in REMEDIES.items() if word in errors), "")
    return UserError(f"{address}: {why}{remedy}")


class Link:
    """A connection to the agent on another machine. The agent is started with ``arguments``.

    Raises:
        UserError: If the connection can't be opened.
    """

    def __init__(self, address: Address, arguments: Sequence[str], answers_within_s: float) -> None:
        self.address = address
        script = in_tree(f".venv/bin/python -m loadtests.hosts.agent.main {shlex.join(arguments)}")
        self._errors = ErrorTail()
        self._calls = 0
        self._writing = threading.Lock()
        self._ended = threading.Event()
        try:
            self._ssh = subprocess.Popen(
                address.command(script),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors.descriptor,
                start_new_session=True,  # so that a Ctrl-C reaches only this process, which then closes the link
            )
        except OSError as error:
            raise UserError(f"ssh cannot be run: {error.strerror}") from None
        finally:
            self._errors.close()
        assert self._ssh.stdin is not None
        assert self._ssh.stdout is not None
        self._out = self._ssh.stdin.fileno()
        self._reader = wire.MessageReader(self._ssh.stdout.fileno())
        atexit.register(self.close)
        threading.Thread(target=self._beat, daemon=True).start()
        try:
            self._wait_for_greeting(answers_within_s)
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        """Whether the connection is neither closed nor lost."""
        return not self._ended.is_set()

    def call(self, method: str, kind: type[T], within_s: float = ANSWERED_WITHIN_S, **arguments: Any) -> T:
        """Call a method of the agent and return its value.

        Raises:
            UserError: If the agent refuses the call.
            ConnectionLost: If the connection is lost.
        """
        if not self.alive:
            raise self._lost("it was closed")
        self._calls += 1
        try:
            self._write(wire.AgentCall(self._calls, method, arguments))
            reply = self._reader.next(wire.AgentReply, within_s)
            if reply.number != self._calls:
                raise wire.NotAMessage(f"{reply.number} to call {self._calls}")
            if reply.error is None:
                return wire.typed(reply.value, kind)
        except TimeoutError:
            self._end(GONE_WITHIN_S)
            raise self._lost(f"the agent did not answer within {within_s:g} s ({method})") from None
        except wire.NotAMessage as error:
            self._end(0.0)
            raise UserError(f"{self.address} sent an invalid answer: {method}: {error}") from None
        except (EOFError, OSError):
            self._end(GONE_WITHIN_S)
            lines = [line.strip() for line in self._errors.text().splitlines() if line.strip()]
            raise self._lost(shown(lines[-1]) if lines else "it ended") from None
        except BaseException:  # after a Ctrl-C, the pending reply would be mistaken for the reply to the next call
            self.close()
            raise
        raise self._refused(reply.error)

    def close(self) -> None:
        """Close the connection, and wait until the agent has stopped everything that it started."""
        self._end(CLOSED_WITHIN_S)

    def _lost(self, why: str) -> ConnectionLost:
        return ConnectionLost(f"the connection to {self.address} was lost: {why}")

    def _refused(self, why: str) -> UserError:
        return UserError(f"{self.address}: {' '.join(why.split())[:MAX_REFUSED]}")

    def _end(self, within_s: float) -> None:
        """Close the connection, and kill ssh if it doesn't exit within ``within_s`` seconds.

        If ssh is killed, the agent notices that its client is gone.
        """
        if self._ended.is_set():
            return
        self._ended.set()
        atexit.unregister(self.close)
        assert self._ssh.stdin is not None
        assert self._ssh.stdout is not None
        # Let another thread finish its write first, unless the write is stuck.
        if self._writing.acquire(timeout=GONE_WITHIN_S):
            with contextlib.suppress(OSError):
                self._ssh.stdin.close()
            self._writing.release()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._ssh.wait(within_s)
        if self._ssh.poll() is None:
            self._ssh.kill()
            self._ssh.wait()
        self._ssh.stdout.close()

    def _wait_for_greeting(self, within_s: float) -> None:
        try:
            reply = self._reader.next(wire.AgentReply, within_s)
        except wire.NotAMessage as error:
            raise UserError(
                f"{self.address}: a program printed text before the agent answered ({error}). Change the startup "
                f"files of the shell (.bashrc) so that they print text only in terminals"
            ) from None
        except TimeoutError:
            raise UserError(f"{self.address}: no answer within {within_s:g} s") from None
        except (EOFError, OSError):
            self.close()
            raise failure(self.address, self._ssh.wait(), self._errors.text()) from None
        if reply.error is not None:
            raise self._refused(reply.error)

    def _write(self, call: wire.AgentCall) -> None:
        with self._writing:
            if self._ended.is_set():
                raise BrokenPipeError
            wire.write(self._out, call)

    def _beat(self) -> None:
        """Send messages regularly, so that the agent notices when the network is down."""
        while not self._ended.wait(wire.BEAT_S):
            with contextlib.suppress(OSError):  # the next call reports the error
                self._write(wire.AgentCall(wire.BEAT))
