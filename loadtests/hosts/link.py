"""One SSH connection to an agent on another machine: questions and answers, one after the other.

It is the user's own ``ssh``, with their configuration, keys and agent, but for what would outlive us or disturb: no
connection is shared with others of theirs, nothing is forwarded, nothing is asked of a person.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shlex
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from loadtests.errors import UserError, called, shown, shown_end
from loadtests.hosts import wire
from loadtests.hosts.base import ConnectionLost

T = TypeVar("T")

CONNECT_S = 10
ANSWERED_WITHIN_S = 60.0
CLOSED_WITHIN_S = 30.0  # the agent ends all that it started before it goes
GONE_WITHIN_S = 2.0
NOT_PREPARED = 69  # the exit status that says so (sysexits(3), EX_UNAVAILABLE)
SSH_FAILED = 255
FOLDER = ".django-serving-benchmark"  # in the home there; in it are the tree, what `hosts prepare` left, and a lock
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
    "verification failed": " Look whether its key is the one you know; if it is, connect to it once by hand",
    "denied": " A key that needs no password is needed: ssh-add it, or name it in ~/.ssh/config",
}
# What is said when the reason was said already.
_AFTERWARDS = re.compile(r"make(\[\d+\])?: (\*\*\* \[.*\] Error \d+$|Leaving directory )|tar: (Exiting|Error) ")
_ADDRESS = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]*)@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?\]|[A-Za-z0-9_][A-Za-z0-9_.-]*)(?::(?P<port>[0-9]{1,5}))?/?"
)


@dataclass(frozen=True)
class Address:
    """Where SSH goes: a host (or an alias of the user's configuration), and user and port where they are said."""

    host: str
    user: str | None = None
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Address:
        """From ``user@host:port``; an IPv6 address stands in brackets. Raises UserError."""
        match = _ADDRESS.fullmatch(text)
        port = int(match["port"]) if match and match["port"] else None
        if match is None or (port is not None and not 1 <= port <= 65_535):
            raise UserError(f"ssh://{shown(text)}: write ssh://user@host or ssh://user@host:port, IPv6 in brackets")
        return cls(match["host"].strip("[]"), match["user"], port)

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ssh://{user}{host}{f':{self.port}' if self.port else ''}"

    def command(self, script: str) -> list[str]:
        """The command that runs a shell script there, whatever shell the user has there; SSH_COMMAND may say which
        ``ssh`` it is, and with which options (``ssh -F file``)."""
        ssh = shlex.split(os.environ.get("SSH_COMMAND") or "ssh")
        options = [word for name, value in OPTIONS.items() for word in ("-o", f"{name}={value}")]
        user = ["-l", self.user] if self.user else []
        port = ["-p", str(self.port)] if self.port else []
        return [*ssh, "-T", *options, *user, *port, "--", self.host, f"exec sh -c {shlex.quote(script)}"]


def in_tree(command: str) -> str:
    """The shell script that runs a command in the tree that `hosts prepare` brought."""
    return f'cd "$HOME/{FOLDER}/tree" 2>/dev/null && [ -f ../{MARKER} ] || exit {NOT_PREPARED}; exec {command}'


def failure(address: Address, status: int, errors: str) -> UserError:
    """Why a command did not run there, in one line: ``status`` is how it ended, ``errors`` what it said."""
    if status == NOT_PREPARED:
        return UserError(f"{address} is not prepared; prepare it: {called()} hosts prepare {address}")
    said = [line.strip() for line in errors.splitlines() if line.strip()]
    lines = [line for line in said if not _AFTERWARDS.match(line)] or said
    why = shown_end(lines[-1]) if lines else f"it ended with {status} and said nothing"
    remedy = ""
    if status == SSH_FAILED:
        remedy = next((remedy for word, remedy in REMEDIES.items() if word in errors), "")
    return UserError(f"{address}: {why}{remedy}")


class Link:
    """A connection to the agent there, until it is closed or lost. ``arguments`` are the agent's.

    Raises UserError where there is none to be had.
    """

    def __init__(self, address: Address, arguments: Sequence[str], answers_within_s: float) -> None:
        self.address = address
        script = in_tree(f".venv/bin/python -m loadtests.hosts.agent.main {shlex.join(arguments)}")
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the link
        self._words = ""
        self._numbers = 0
        self._writing = threading.Lock()
        self._ended = threading.Event()
        try:
            self._ssh = subprocess.Popen(
                address.command(script),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # a Ctrl-C is for this process, which then closes the link
            )
        except OSError as error:
            self._errors.close()
            raise UserError(f"ssh cannot be run: {error.strerror}") from None
        assert self._ssh.stdin is not None
        assert self._ssh.stdout is not None
        self._out = self._ssh.stdin.fileno()
        self._frames = wire.Frames(self._ssh.stdout.fileno())
        atexit.register(self.close)
        threading.Thread(target=self._beat, daemon=True).start()
        try:
            self._greeted(answers_within_s)
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        """Whether it can be asked: it was neither closed nor lost."""
        return not self._ended.is_set()

    def ask(self, asked: str, kind: type[T], within_s: float = ANSWERED_WITHIN_S, **values: Any) -> T:
        """The agent's answer, as the kind of thing that it is. Raises UserError for what it refuses, and
        ConnectionLost."""
        if not self.alive:
            raise self.lost("it was closed")
        self._numbers += 1
        try:
            self._write(wire.AgentCall(self._numbers, asked, values))
            reply = self._reply(within_s)
        except TimeoutError:
            self._end(GONE_WITHIN_S)
            raise self.lost(f"it did not answer within {within_s:g} s ({asked})") from None
        except (EOFError, OSError, wire.NoFrame):
            self._end(GONE_WITHIN_S)
            raise self.lost(self._said()) from None
        except BaseException:  # Ctrl-C: the answer that is under way would be taken for that to another question
            self.close()
            raise
        if reply.error is not None:
            raise UserError(f"{self.address}: {reply.error}")
        if reply.defect is not None:
            raise RuntimeError(f"the agent on {self.address}, asked {asked}:\n{reply.defect}")
        return msgspec.json.decode(reply.value, type=kind)

    def lost(self, why: str) -> ConnectionLost:
        """The error that says that the connection is."""
        return ConnectionLost(f"the connection to {self.address} was lost: {why}")

    def close(self) -> None:
        """Has the agent end all that it started, and waits for that."""
        self._end(CLOSED_WITHIN_S)

    def _end(self, within_s: float) -> None:
        """Ends it; what has not ended by itself within a time is not waited for: the agent then misses its client."""
        if self._ended.is_set():
            return
        self._ended.set()
        atexit.unregister(self.close)
        assert self._ssh.stdin is not None
        assert self._ssh.stdout is not None
        # What is being written now is written first, unless it is stuck.
        stuck = not self._writing.acquire(timeout=GONE_WITHIN_S)
        if not stuck:
            with contextlib.suppress(OSError):
                self._ssh.stdin.close()
            self._writing.release()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._ssh.wait(within_s)
        if self._ssh.poll() is None:
            self._ssh.kill()
            self._ssh.wait()
        self._ssh.stdout.close()
        self._errors.seek(0)
        self._words = self._errors.read().decode(errors="replace")
        self._errors.close()

    def _greeted(self, within_s: float) -> None:
        """Waits for the agent's first words."""
        try:
            reply = self._reply(within_s)
        except wire.NoFrame as error:
            raise UserError(
                f"{self.address}: something there prints before the harness can speak ({shown(str(error))}): what a "
                "shell prints when it starts (.bashrc) must be for terminals only"
            ) from None
        except TimeoutError:
            raise UserError(f"{self.address}: no answer within {within_s:g} s") from None
        except (EOFError, OSError):
            self.close()
            raise failure(self.address, self._ssh.wait(), self._words) from None
        if reply.error is not None:
            raise UserError(f"{self.address}: {reply.error}")

    def _reply(self, within_s: float) -> wire.AgentReply:
        return msgspec.json.decode(self._frames.next(within_s), type=wire.AgentReply)

    def _write(self, question: wire.AgentCall) -> None:
        left = memoryview(wire.frame(question))
        with self._writing:
            if self._ended.is_set():
                raise BrokenPipeError
            while left:
                left = left[os.write(self._out, left) :]

    def _beat(self) -> None:
        """Says now and then that the client is there: where the network is cut, nothing else tells the agent."""
        while not self._ended.wait(wire.BEAT_S):
            with contextlib.suppress(OSError):  # it shows where something is asked
                self._write(wire.AgentCall(wire.BEAT))

    def _said(self) -> str:
        """What ssh said last."""
        lines = [line.strip() for line in self._words.splitlines() if line.strip()]
        return shown(lines[-1]) if lines else "it ended"
