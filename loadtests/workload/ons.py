"""Read a requests file of the Office for National Statistics (ONS).

See https://github.com/ONSdigital/eq-survey-runner-benchmark.

The file contains a list of GET and POST requests in order. Names in braces are placeholders for parts of an earlier
redirect.
"""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import urlencode

import msgspec

from loadtests.errors import UserError
from loadtests.records import decode
from loadtests.workload.recorded_journey import PAUSED_S, URLENCODED
from loadtests.workload.recording import Recorded, Recording
from loadtests.workload.redaction import HOLE
from loadtests.workload.request import PATH

OK, FOUND = 200, 302
Value = str | int | float


class OnsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A request of the file."""

    method: Literal["GET", "POST"]
    url: str
    data: dict[str, Value | list[Value]] = {}
    redirect_route: str = ""


class OnsFile(msgspec.Struct):
    """A requests file."""

    requests: list[OnsRequest]


def read(values: dict[str, Any], where: str) -> Recording:
    """Return the requests in a file. Users think before each request.

    Args:
        values: The content of the file.
        where: The name of the file, for messages.

    Raises:
        UserError: If a request isn't valid.
    """
    found = []
    known: set[str] = set()
    for number, one in enumerate(decode.convert({"requests": values["requests"]}, OnsFile, where).requests):
        for path in filter(None, (one.url, one.redirect_route)):
            if not PATH.fullmatch(path) or any(brace in HOLE.sub("", path) for brace in "{}"):
                raise UserError(f"{where}: request {number + 1}: {path!r} must be a path, such as /people/{{id}}/")
        if unknown := set(HOLE.findall(one.url)) - known:
            raise UserError(f"{where}: request {number + 1}: no earlier redirect_route defines {{{min(unknown)}}}")
        known |= set(HOLE.findall(one.redirect_route))
        posted = one.method == "POST"
        if one.data and not posted:
            raise UserError(f"{where}: request {number + 1}: data is only allowed in a POST")
        found.append(
            Recorded(
                at=number * PAUSED_S,
                method=one.method,
                path=one.url,
                status=FOUND if posted or one.redirect_route else OK,
                headers=(("Content-Type", URLENCODED),),
                body=urlencode(one.data, doseq=True, errors="replace").encode() if posted else None,
                location=one.redirect_route,
            )
        )
    return Recording(found, [])
