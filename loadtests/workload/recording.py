"""Convert recorded requests to a workload: count equal requests, and leave out requests that can't be sent."""

from __future__ import annotations

import dataclasses
import datetime
import email.utils
import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from loadtests.errors import UserError
from loadtests.formatting import plural
from loadtests.workload.request import MAX_RECORDED, METHODS, PATH, Request, Workload

LATEST_S = 1e11  # greater numbers are times in milliseconds
# The visitor's browser had the file in its cache, or requested a part. A load has no cache and requests the whole file.
WHOLE = {206: 200, 304: 200}
MAX_DIFFERENT = 100  # the most frequent requests are kept
# All ASCII characters that are valid in a request line, because recorded URLs are encoded already. Braces are encoded,
# because they mark names in journeys.
UNESCAPED = "!\"$%&'()*+,-./:;<=>?@[\\]^_`|~"


@dataclasses.dataclass(frozen=True, slots=True)  # there may be millions of requests
class Recorded:
    """A recorded request.

    Args:
        at: The time of the request in seconds of any clock, or NaN if it isn't recorded.
        method: The HTTP method, such as GET.
        path: The path and query, percent-encoded.
        status: The answer's status.
        headers: The names and values of the headers.
        body: The body, or None.
        location: The path of the answer's redirect on the same host, or empty.
    """

    at: float
    method: str
    path: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    location: str = ""

    @property
    def content_type(self) -> str:
        """The content type of the body in lower case."""
        return next((value for name, value in self.headers if name.lower() == "content-type"), "").lower()


@dataclasses.dataclass(frozen=True)
class Recording:
    """The requests of a recording that can be sent, and remarks on the other requests."""

    requests: list[Recorded]
    remarks: list[str]

    @classmethod
    def of(cls, recorded: Iterable[Recorded], left: Counter[str], where: str) -> Recording:
        """Return the requests that can be sent.

        Args:
            recorded: The requests.
            left: The reasons for which the reader left out requests, with their numbers.
            where: The name of the file, for messages.

        Raises:
            UserError: If no request can be sent.
        """
        requests = []
        for one in recorded:
            if not 200 <= one.status <= 599:
                left["without a final answer"] += 1
            elif one.method not in METHODS:
                left["with a method that is not sent"] += 1
            elif not PATH.fullmatch(one.path):
                left["with a path that is not percent-encoded"] += 1
            else:
                requests.append(one)
        if not requests:
            raise UserError("; ".join([f"{where}: contains no request that can be sent", *left_out(left)]))
        return cls(requests, left_out(left))


def to_workload(recording: Recording, times: bool, where: str) -> tuple[Workload, list[str]]:
    """Create a workload from the most frequent requests. Each weight is the request's number of occurrences.

    The requests are in the order of their first appearance.

    Args:
        recording: The recording.
        times: Whether to keep the time of each request.
        where: The name of the recording, for messages.

    Returns:
        The workload, and remarks on the requests that were used or left out.

    Raises:
        UserError: If the recording can't be replayed.
    """
    groups: dict[tuple[object, ...], list[Recorded]] = {}
    for one in recording.requests:
        groups.setdefault((one.method, one.path, one.headers, one.body), []).append(one)
    frequent = set(sorted(groups, key=lambda key: len(groups[key]), reverse=True)[:MAX_DIFFERENT])
    chosen = [group for key, group in groups.items() if key in frequent]
    count = sum(map(len, chosen))
    remarks = [
        f"requests used: {count:,}, different requests: {len(chosen):,}",
        *recording.remarks,
        *left_out({"to rarer URLs": len(recording.requests) - count}),
    ]
    names: Counter[str] = Counter()
    requests = []
    for group in chosen:
        one = group[0]
        name = f"{one.method} {one.path}"
        names[name] += 1
        name += f" ({names[name]})" if names[name] > 1 else ""  # only the headers or the body differ
        [(status, _)] = Counter(same.status for same in group).most_common(1)
        requests.append(Request(name, one.method, one.path, one.headers, one.body, len(group), status))
    if not times:
        return Workload(tuple(requests)), remarks
    if any(math.isnan(one.at) for one in recording.requests):
        raise UserError(f"{where}: was recorded without times. Leave out --keep-times")
    if count > MAX_RECORDED:
        raise UserError(f"{where}: contains {count:,} requests. At most {MAX_RECORDED:,} can be replayed")
    begin = min(one.at for group in chosen for one in group)
    at = tuple(tuple(sorted(round(one.at - begin, 6) for one in group)) for group in chosen)
    return Workload(tuple(requests), at), remarks


def left_out(counts: Mapping[str, int]) -> list[str]:
    """Return a remark for each reason for which requests are left out."""
    return [f"left out: {plural(count, 'request')} {why}" for why, count in counts.items() if count]


@functools.lru_cache  # a busy server logs many requests in each second
def seconds(text: str) -> float:
    """Return a time in seconds since 1970. A time without a zone is UTC.

    Args:
        text: A time in ISO 8601 or in the format of an access log, or a number since 1970.

    Raises:
        ValueError: If the text is not a time.
    """
    try:
        if text.replace(".", "", 1).isdecimal():
            at = float(text)
            return at / 1000 if at > LATEST_S else at
        text = text.replace(":60", ":59")  # a leap second
        if text[:4].isdecimal():
            time = datetime.datetime.fromisoformat(re.sub(r" (?=[+-])", "", text))
        else:
            time = email.utils.parsedate_to_datetime(re.sub(r"/|(?<=/\d{4}):", " ", text))
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not a time") from None
    return (time if time.tzinfo else time.replace(tzinfo=datetime.UTC)).timestamp()
