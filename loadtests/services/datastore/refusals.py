"""Define the errors of the datastore, which consist of a status of google.rpc and a message."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """The codes of google.rpc.Code that the datastore uses: the number and the HTTP status (google/rpc/code.proto)."""

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
    """An error that refuses a whole request."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
