"""Provide a transport for Elastic's agent that records events instead of sending them."""

from typing import Any

from elasticapm.transport.base import Transport

recorded: list[Any] = []


class Recording(Transport):
    def queue(self, event_type: str, data: Any, flush: bool = False) -> None:
        recorded.append((event_type, data))

    def start_thread(self, pid: Any = None) -> None: ...
