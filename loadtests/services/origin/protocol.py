"""Answer the requests on an origin's HTTP/1.1 connections.

The requests of a connection are answered one after the other, when they are due.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import math
import socket
import struct
from collections import deque
from typing import NamedTuple

import httptools

from loadtests.services.cross_origin import of_a_page
from loadtests.services.origin import recipes, replies
from loadtests.services.origin.admin import Desk
from loadtests.services.origin.counts import Counts
from loadtests.services.origin.player import Fate, Played, Player
from loadtests.services.origin.replies import Reply

MAX_HEAD_BYTES = 65_536  # maximum size of a request line with its headers
_MAX_WAITING = 64  # maximum number of requests that wait on a connection; reading pauses at this number
_RESETS = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset (socket(7))
_KEEP, _CLOSE = b"\r\n", b"connection: close\r\n\r\n"
_ADMIN = recipes.ADMIN.encode()
_SAYS = {
    413: f"a recipe can have at most {recipes.MAX_RECIPE_BYTES / 1e6:g} MB; write a large body as its size: <<20mb>>",
    403: "the admin interface refuses web pages, and requests to a host other than 127.0.0.1 or localhost",
}


class _Request(NamedTuple):
    """A request. ``wrong`` is the status of the answer if the request isn't acceptable, or 0."""

    method: bytes
    url: bytes
    keep: bool
    body: bytes
    wrong: int = 0


@dataclasses.dataclass
class Shared:
    """The state that the connections of an origin share. Connections above ``most_open`` are closed at once."""

    player: Player
    counts: Counts
    desk: Desk
    most_open: int
    open: set[OriginConnection] = dataclasses.field(default_factory=set)


class OriginConnection(asyncio.Protocol):
    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._clock = shared.player.clock
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        # Without this option, requests would be lost if unexpected data follows them.
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._waiting: deque[_Request] = deque()
        self._current: _Request | None = None  # the request that is being answered
        self._played: Played | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._counts = False  # whether the connection has had a request to a recipe
        self._broken = False
        self._head_bytes = 0
        self._in_head = True
        self._url = b""
        self._body = bytearray()
        self._wrong = 0

    # Called by asyncio.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._shared.open.add(self)
        if len(self._shared.open) > self._shared.most_open:
            self._shared.counts.refused()
            transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._shared.open.discard(self)
        del self._parser  # breaks the reference cycle, so that the garbage collector has nothing to do
        if self._timer is not None:
            self._timer.cancel()
        if self._played is not None:
            self._over(self._played)
            self._shared.counts.left(self._played.fate)
            self._played = None
        if self._counts:
            self._shared.counts.closed()

    def data_received(self, data: bytes) -> None:
        if self._broken:
            return
        if self._in_head:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._broken = True  # answer the request, but ignore the following data, which isn't HTTP/1.1
        except httptools.HttpParserError:
            self._give_up(400)
        if self._in_head and self._head_bytes > MAX_HEAD_BYTES:
            self._give_up(431)
        self._take_next()
        if len(self._waiting) >= _MAX_WAITING and not self._transport.is_closing():
            self._transport.pause_reading()

    def abort(self) -> None:
        """Close the connection immediately."""
        self._transport.abort()

    # Called by the parser.

    def on_message_begin(self) -> None:
        self._url, self._body, self._wrong = b"", bytearray(), 0

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._url.startswith(_ADMIN) and of_a_page(name, value):
            self._wrong = 403

    def on_headers_complete(self) -> None:
        self._in_head, self._head_bytes = False, 0

    def on_body(self, data: bytes) -> None:
        # Only recipes have a relevant body. Keep enough data to recognize a recipe that is too long.
        if self._url.startswith(_ADMIN) and not self._wrong:
            self._body += data
            if len(self._body) > recipes.MAX_RECIPE_BYTES:
                self._body.clear()
                self._wrong = 413

    def on_message_complete(self) -> None:
        self._in_head = True
        keep = self._parser.should_keep_alive() and not self._parser.should_upgrade()
        self._waiting.append(_Request(self._parser.get_method(), self._url, keep, bytes(self._body), self._wrong))

    # Handle a request.

    def _give_up(self, status: int) -> None:
        if not self._broken:
            self._broken = True
            self._waiting.append(_Request(b"", b"", False, b"", status))

    def _take_next(self) -> None:
        """Answer the waiting requests in order, until a request can't be answered immediately."""
        while self._waiting and self._current is None and not self._transport.is_closing():
            self._current = self._waiting.popleft()
            if len(self._waiting) == _MAX_WAITING - 1:
                self._transport.resume_reading()
            self._begin(self._current)

    def _begin(self, request: _Request) -> None:
        path = request.url.partition(b"?")[0].decode("latin-1")
        if request.wrong:
            self._write(replies.text(request.wrong, _SAYS.get(request.wrong, f"Error {request.wrong}")))
        elif path.startswith(recipes.ADMIN):
            self._write(self._shared.desk.answer(request.method.decode("ascii"), path, request.body))
        else:
            self._play(path)

    def _play(self, path: str) -> None:
        played = self._played = self._shared.player.begin(path)
        self._shared.counts.began(not self._counts)
        self._counts = True
        self._due = self._clock() + played.latency_s
        if played.fate is Fate.STALLED:
            return
        if played.latency_s:
            # uvloop rounds its clock down to milliseconds, so without another millisecond, the answer would be early
            whole_ms = math.ceil(played.latency_s * 1000 - 1e-6) + 1
            self._timer = self._loop.call_later(whole_ms / 1000, self._is_due)
        else:
            self._end()

    def _is_due(self) -> None:
        self._timer = None
        self._end()
        self._take_next()

    def _end(self) -> None:
        """End the request that is being played."""
        played, self._played = self._played, None
        assert played is not None
        if played.fate is Fate.RESET:
            with contextlib.suppress(OSError):
                self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETS)
            self._transport.abort()
        else:
            self._write(played.reply)
        self._over(played)
        self._shared.counts.ended(played.fate, played.reply.status, self._clock() - self._due)

    def _over(self, played: Played) -> None:
        if played.of is not None:
            played.of.end()

    def _write(self, reply: Reply) -> None:
        request, self._current = self._current, None
        assert request is not None
        keep = request.keep and not reply.closes
        body = b"" if request.method == b"HEAD" else reply.body
        self._transport.writelines((reply.head, _KEEP if keep else _CLOSE, body))
        if not keep:
            self._transport.close()
