"""Read requests in TOML, from a workload file, from a study, or from a test with one request."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from loadtests import files
from loadtests.errors import UserError
from loadtests.records import decode
from loadtests.records.bounds import VAST
from loadtests.workload.request import HEAVIEST, Request, Workload

Seconds = Annotated[float, Meta(ge=0, le=VAST)]


class RequestTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request and the expected answer."""

    method: Annotated[
        Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], Meta(description="The HTTP method.")
    ] = "GET"
    path: Annotated[str, Meta(description="Path and query string, percent-encoded.")] = "/"
    headers: Annotated[
        dict[str, str | list[str]], Meta(description="Headers. To send a header several times, write a list.")
    ] = {}
    body: Annotated[str | None, Meta(description="The body, as text.")] = None
    body_base64: Annotated[str | None, Meta(description="The body, in base64.")] = None
    body_file: Annotated[str | None, Meta(description="A file with the body, below the TOML file's folder.")] = None
    status: Annotated[int, Meta(ge=200, le=599, description="The status that the answer should have.")] = 200

    def __post_init__(self) -> None:
        given = [name for name in ("body", "body_base64", "body_file") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} can't be combined. Use one of them")
        if self.body_base64 is not None:
            try:
                base64.b64decode(self.body_base64, validate=True)
            except ValueError as error:
                raise ValueError(f"body_base64: is not base64: {error}") from None

    def request(self, folder: Path, name: str | None = None, weight: float = 1.0) -> Request:
        """Convert the table to a request. ``folder`` is the folder of the TOML file, and contains the ``body_file``.

        Raises:
            UserError: If the request isn't valid. The message starts with the key.
        """
        listed = {key: [value] if isinstance(value, str) else value for key, value in self.headers.items()}
        headers = tuple((key, value) for key, values in listed.items() for value in values)
        name = name or f"{self.method} {self.path}"
        request = Request(name, self.method, self.path, headers, self._body(), weight, self.status)
        if self.body_file is None:
            return request
        try:
            return request.with_file(files.inside(folder, self.body_file))
        except UserError as error:
            raise UserError(f"body_file: {error}") from None

    def _body(self) -> bytes | None:
        if self.body_base64 is not None:
            return base64.b64decode(self.body_base64)
        return None if self.body is None else self.body.encode()


class MixedRequestTable(RequestTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request in a mix."""

    name: Annotated[str | None, Meta(description="The name in reports. Default: method and path.")] = None
    weight: Annotated[
        Annotated[float, Meta(gt=0, le=HEAVIEST)] | None,
        Meta(description="The frequency relative to the other requests. Default: 1, or the recorded frequency."),
    ] = None
    at: Annotated[
        list[Seconds], Meta(description="The recorded times, in seconds after the start of the recording.")
    ] = []


class WorkloadTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The top-level table of a workload file."""

    requests: Annotated[list[MixedRequestTable], Meta(min_length=1, description="The requests of the mix.")]


def read(path: Path) -> Workload:
    """Read a workload file.

    Raises:
        UserError: If the file isn't valid. The message contains the file, the key and the allowed values.
    """
    table = decode.convert(decode.read_toml(path), WorkloadTable, str(path))
    return workload(table.requests, str(path), "", path.parent)


def workload(tables: Sequence[MixedRequestTable], where: str, prefix: str, folder: Path) -> Workload:
    """Convert the tables of requests to a workload.

    Args:
        tables: The tables of requests.
        where: The name of the file, for messages.
        prefix: The start of the keys in the file, for messages.
        folder: The folder that contains the body files.

    Raises:
        UserError: If a request isn't valid.
    """
    requests = []
    for number, table in enumerate(tables, start=1):
        try:
            requests.append(table.request(folder, table.name, table.weight or len(table.at) or 1.0))
        except UserError as error:
            raise UserError(f"{where}: {prefix}requests[{number}].{error}") from None
    at = tuple(tuple(table.at) for table in tables)
    try:
        return Workload(tuple(requests), at if any(at) else ())
    except UserError as error:
        raise UserError(f"{where}: {prefix}{error}") from None
