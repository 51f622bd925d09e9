"""Control a supervisord on another machine, through the agent that started it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from loadtests.hosts.base import Program
from loadtests.hosts.link import Link

T = TypeVar("T")
NOTHING = type(None)


class RemoteSupervisor:
    """A context manager for a supervisord on another machine. See ``loadtests.hosts.base.Supervised``."""

    def __init__(self, link: Link, env: Mapping[str, str]) -> None:
        self._link = link
        self._env = dict(env)
        self._number = 0
        self.folder = Path()

    def __enter__(self) -> RemoteSupervisor:
        self._number, folder = self._link.call("supervise", tuple[int, str], env=self._env)
        self.folder = Path(folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._link.alive:  # if the connection is closed or lost, the agent itself stops supervisord
            self._call("end_supervisor", NOTHING)

    def start(self, group: str) -> None:
        self._call("start", NOTHING, group=group)

    def stop(self, group: str) -> None:
        self._call("stop", NOTHING, group=group)

    def programs(self, group: str) -> list[Program]:
        return self._call("programs", list[Program], group=group)

    def signal(self, pid: int, name: str) -> None:
        self._call("signal", NOTHING, pid=pid, name=name)

    def has(self, file: str) -> bool:
        return self._call("has", bool, file=file)

    def read(self, file: str) -> str:
        return self._call("read", str, file=file)

    def logs(self) -> str:
        return self._call("logs", str)

    def _call(self, method: str, kind: type[T], **arguments: Any) -> T:
        return self._link.call(method, kind, number=self._number, **arguments)
