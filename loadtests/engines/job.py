"""Convert a load to the job of a generator process (``Job`` in generator/types.ts)."""

from __future__ import annotations

import array
import base64
import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

from loadtests.workload.event_streams import EventStreams
from loadtests.workload.load import Load
from loadtests.workload.order import order
from loadtests.workload.request import Request


def job(engine: str, load: Load, token: str, index: int) -> dict[str, Any]:
    """Return the job of the process with this index. Each WebSocket payload starts with ``token``."""
    return {
        "engine": engine,
        "protocol": load.protocol,
        "origin": load.origin,
        "requests": [_request(*asked, load.cookies) for asked in itertools.zip_longest(load.requests, load.bodies)],
        "order": _base64(_order(load).tobytes()),
        "timesMs": [seconds * 1000 for seconds, _ in load.recorded] or None,
        "rate": load.rate,
        "connections": _connections(load, index),
        "silent": _share(load.silent, load.processes, index),
        "timeoutMs": load.timeout_s * 1000,
        "listenMs": load.listens_s * 1000,
        "idleMs": load.idle_s * 1000,
        "answerMs": load.answer_s * 1000,
        "index": index,
        "processes": load.processes,
        "turns": load.turns,
        "keepAlive": load.keep_alive,
        "conversation": _conversation(load, token, index),
        "ca": load.ca,
        "resumption": load.resumption,
        "streams": [_streams(load, streams, index) for streams in load.all_streams],
    }


def _request(request: Request, body: bytes | None, cookies: Sequence[str] = ()) -> dict[str, Any]:
    return {
        "method": request.method,
        "path": request.path,
        "headers": list(itertools.chain.from_iterable(request.headers)),
        "cookies": () if request.has_cookie else cookies,
        "body": _base64(request.body),
        "status": request.status,
        "expectBody": _base64(body),
        "closes": request.closes,
        "ticket": request.ticket,
    }


def _connections(load: Load, index: int) -> int:
    if load.conversation is not None and load.conversation.publishes:
        # Each connection publishes in the rooms of its process.
        return load.connection_count if index < load.turns else 0
    return _share(load.connection_count, load.processes, index)


def _share(count: int, processes: int, index: int) -> int:
    """Return the share of ``count`` for the process with this index."""
    share, rest = divmod(count, processes)
    return share + (index < rest)


def _conversation(load: Load, token: str, index: int) -> dict[str, Any] | None:
    if (talk := load.conversation) is None:
        return None
    own = range(index, load.turns, load.processes)  # the turns of this process, which are its rooms in a broadcast
    receivers = sum(_share(talk.receivers, load.turns, turn) for turn in own)
    return {**dataclasses.asdict(talk), "token": token, "receivers": receivers, "rooms": len(own)}


def _streams(load: Load, streams: EventStreams, index: int) -> dict[str, Any]:
    return {
        "request": _request(streams.request, streams.body, load.cookies),
        "count": _share(streams.count, load.processes, index),
        "events": streams.events,
        "intervalMs": streams.interval_s * 1000,
        "pauseMs": streams.pause_s * 1000,
        "leaveMs": None if streams.leave_s is None else streams.leave_s * 1000,
        "endings": None if streams.endings is None else _request(streams.endings, None, load.cookies),
    }


def _order(load: Load) -> array.array[int]:
    if load.recorded:
        return array.array("H", (index for _, index in load.recorded))
    return order([request.weight for request in load.requests], load.seed)


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")
