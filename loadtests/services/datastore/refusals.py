"""What the datastore refuses: a status of google.rpc and a sentence."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """Those of google.rpc.Code that are needed here: the number, and the status of HTTP that stands for it
    (google/rpc/code.proto)."""

    INVALID_ARGUMENT = (3, 400)
    NOT_FOUND = (5, 404)
    ALREADY_EXISTS = (6, 409)
    UNIMPLEMENTED = (12, 501)

    @property
    def number(self) -> int:
        """The number in google.rpc.Status."""
        return self.value[0]

    @property
    def http(self) -> int:
        """The status of the HTTP answer."""
        return self.value[1]


class Refusal(Exception):
    """A request that is not done; nothing of it is."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
