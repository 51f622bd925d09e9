"""Convert recorded requests to a workload: count equal requests, and leave out requests that can't be sent."""

from __future__ import annotations

import dataclasses
import datetime
import email.utils
import functools
import math
import re
from collections import Counter
from collections.abc import Sequence

from loadtests.errors import UserError
from loadtests.formatting import plural
from loadtests.workload.request import MAX_RECORDED, METHODS, PATH, Request, Workload

LATEST_S = 1e11  # greater numbers are times in milliseconds


@dataclasses.dataclass(frozen=True, slots=True)  # there may be millions of requests
class Sent:
    """A recorded request. Its time is in seconds of any clock."""

    at: float
    method: str
    path: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None

    def moved(self, seconds: float) -> Sent:
        """Return a copy of the request, moved to a later time."""
        return dataclasses.replace(self, at=self.at + seconds)


@dataclasses.dataclass(frozen=True)
class RecordedWorkload:
    """A workload, and remarks on the requests that were used or left out."""

    workload: Workload
    remarks: tuple[str, ...]


def workload(sent: Sequence[Sent], most: int, times: bool, what: str, read: Sequence[str] = ()) -> RecordedWorkload:
    """Create a workload from the most frequent requests. Each weight is the request's number of occurrences.

    The requests are in the order of their first appearance.

    Args:
        sent: The recorded requests.
        most: The maximum number of different requests.
        times: Whether to keep the time of each request.
        what: The name of the recording, for messages.
        read: The remarks from reading the recording.

    Raises:
        UserError: If the recording contains no request that can be sent, or can't be replayed.
    """
    remarks = [*read]
    final = [one for one in sent if 200 <= one.status <= 599]
    remarks += left_out("without a final answer", len(sent) - len(final))
    known = [one for one in final if one.method in METHODS]
    other = Counter(one.method for one in final if one.method not in METHODS)
    remarks += left_out(f"with a method that is not sent ({', '.join(sorted(other))})", other.total())
    sendable = [one for one in known if PATH.fullmatch(one.path)]
    remarks += left_out("with a path that is not percent-encoded", len(known) - len(sendable))
    groups: dict[tuple[object, ...], list[Sent]] = {}
    for one in sendable:
        groups.setdefault((one.method, one.path, one.headers, one.body), []).append(one)
    frequent = sorted(groups, key=lambda key: -len(groups[key]))[:most]
    chosen = [key for key in groups if key in set(frequent)]
    rare = len(sendable) - sum(len(groups[key]) for key in chosen)
    remarks += left_out(f"to {plural(len(groups) - len(chosen), 'rarer URL')}; --max-requests keeps more", rare)
    if not chosen:
        raise UserError(f"{what}: contains no request that can be sent" + "".join(f"; {remark}" for remark in remarks))
    try:
        requests = tuple(_request(groups[key], name) for key, name in zip(chosen, _names(chosen), strict=True))
    except UserError as error:
        raise UserError(f"{what}: {error}") from None
    count = sum(len(groups[key]) for key in chosen)
    if not times:
        return RecordedWorkload(Workload(requests), (_taken(count, len(requests)), *remarks))
    if any(math.isnan(one.at) for one in sendable):
        raise UserError(f"{what}: was recorded without times. Leave out --keep-times")
    if count > MAX_RECORDED:
        raise UserError(f"{what}: contains {count:,} requests. At most {MAX_RECORDED:,} can be replayed")
    begin = min(one.at for key in chosen for one in groups[key])
    at = tuple(tuple(sorted(round(one.at - begin, 6) for one in groups[key])) for key in chosen)
    return RecordedWorkload(Workload(requests, at), (_taken(count, len(requests)), *remarks))


def _request(sent: Sequence[Sent], name: str) -> Request:
    one = sent[0]
    [(status, _)] = Counter(same.status for same in sent).most_common(1)
    return Request(name, one.method, one.path, one.headers, one.body, weight=len(sent), status=status)


def _names(keys: Sequence[tuple[object, ...]]) -> list[str]:
    """Return the method and path of each request as its name. Add numbers if only the headers or the body differ."""
    used: Counter[str] = Counter()
    names = []
    for method, path, *_ in keys:
        name = f"{method} {path}"
        used[name] += 1
        names.append(f"{name} ({used[name]})" if used[name] > 1 else name)
    return names


def _taken(count: int, different: int) -> str:
    return f"requests used: {count:,}, different requests: {different:,}"


def left_out(why: str, count: int) -> list[str]:
    """Return a list with a remark on requests that are left out, or an empty list if ``count`` is 0."""
    return [f"left out: {plural(count, 'request')} {why}"] if count else []


@functools.lru_cache  # a busy server logs many requests in each second
def seconds(text: str) -> float:
    """Return a time in seconds since 1970. A time without a zone is UTC.

    Args:
        text: A time in ISO 8601, in the format of an access log or of C's ``ctime``, or a number since 1970.

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
