"""supervisord on another machine: each question of a run about it goes to the agent that started it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from loadtests.hosts.base import Program
from loadtests.hosts.link import Link

NOTHING = type(None)
STARTED_WITHIN_S = 60.0
STOPPED_WITHIN_S = 60.0


class RemoteSupervisor:
    """A supervisord of our own there, see ``loadtests.hosts.base.Supervised``; a context manager."""

    def __init__(self, link: Link, env: Mapping[str, str]) -> None:
        self._link = link
        self._env = dict(env)
        self._number = 0
        self.folder = Path()

    def __enter__(self) -> RemoteSupervisor:
        self._number, folder = self._link.ask("supervise", tuple[int, str], STARTED_WITHIN_S, env=self._env)
        self.folder = Path(folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._link.alive:  # else the agent has ended it already, or is about to
            self._link.ask("stop", NOTHING, STOPPED_WITHIN_S, number=self._number)

    def start(self, group: str) -> None:
        self._link.ask("start", NOTHING, number=self._number, group=group)

    def stop(self, group: str) -> None:
        self._link.ask("stop_group", NOTHING, STOPPED_WITHIN_S, number=self._number, group=group)

    def programs(self, group: str) -> list[Program]:
        return self._link.ask("programs", list[Program], number=self._number, group=group)

    def has(self, file: str) -> bool:
        return self._link.ask("has", bool, number=self._number, file=file)

    def logs(self) -> str:
        return self._link.ask("logs", str, number=self._number)
