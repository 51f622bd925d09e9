"""A small WebSocket client for the contract (RFC 6455). It can send what no client may, and hides nothing of what comes
back: the load itself is the engines' work."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
import os
import socket
import struct
import time
from collections.abc import Sequence
from types import TracebackType
from urllib.parse import urlsplit

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # section 1.3
LONGEST_HEAD = 65536


class Refused(Exception):
    """The server did not open the connection. ``status`` is what it answered, None where it said nothing."""

    def __init__(self, status: int | None) -> None:
        super().__init__(f"refused with {status}" if status else "refused without an answer")
        self.status = status


class ConnectionEnded(Exception):
    """The connection is over. ``code`` is that of a close frame: 1005 where it had none, None where no frame came."""

    def __init__(self, code: int | None, reason: str = "") -> None:
        super().__init__(f"closed with {code} {reason}".rstrip() if code else "dropped")
        self.code = code
        self.reason = reason


@dataclasses.dataclass(frozen=True)
class WireFrame:
    """A frame as it goes over the wire (section 5.2). ``head`` is sent instead of what would be right, where it is not
    empty: it lacks the mask only."""

    opcode: int
    payload: bytes = b""
    fin: bool = True
    rsv: int = 0
    masked: bool = True
    head: bytes = b""

    def to_bytes(self) -> bytes:
        """The frame, masked with a fresh key where it is to be."""
        head = self.head or self._head()
        if not self.masked:
            return head + self.payload
        key = os.urandom(4)
        return head + key + masked(self.payload, key)

    def _head(self) -> bytes:
        first = self.fin << 7 | self.rsv << 4 | self.opcode
        mask, length = self.masked << 7, len(self.payload)
        if length < 126:
            return bytes([first, mask | length])
        if length < 65536:
            return struct.pack("!BBH", first, mask | 126, length)
        return struct.pack("!BBQ", first, mask | 127, length)


def masked(payload: bytes, key: bytes) -> bytes:
    """The payload under a key of four bytes, and back (section 5.3)."""
    length = len(payload)
    stream = (key * (length // 4 + 1))[:length]
    return (int.from_bytes(payload, "little") ^ int.from_bytes(stream, "little")).to_bytes(length, "little")


@dataclasses.dataclass(frozen=True)
class Handshake:
    """What a client asks for (section 4.1); ``headers`` are added or come instead, those of ``without`` do not."""

    path: str
    origin: str | None = None
    subprotocols: Sequence[str] = ()
    headers: Sequence[tuple[str, str]] = ()
    without: Sequence[str] = ()
    method: str = "GET"

    def to_bytes(self, host: str, key: str) -> bytes:
        """The request, to be sent to ``host``."""
        fields = {
            "Host": host,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Version": "13",
            "Origin": self.origin,
            "Sec-WebSocket-Protocol": ", ".join(self.subprotocols) or None,
            **dict(self.headers),
        }
        lines = [f"{name}: {value}" for name, value in fields.items() if value is not None and name not in self.without]
        return "\r\n".join([f"{self.method} {self.path} HTTP/1.1", *lines, "", ""]).encode("latin-1")


class Client:
    """A connection to the server at ``url`` (``http://HOST:PORT``), open once it is made; a context manager.

    No single answer is waited for longer than ``timeout_s``. Raises Refused, also for an answer that breaks section
    4.2.2, and OSError.
    """

    def __init__(self, url: str, handshake: Handshake, timeout_s: float = 5.0) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname, parts.port or 80), timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timeout_s = timeout_s
        self._read = bytearray()
        self._pieces: list[bytes] = []
        self._binary = False
        self.headers: dict[str, str] = {}
        try:
            self._open(parts.netloc, handshake)
        except BaseException:
            self._socket.close()
            raise

    @property
    def subprotocol(self) -> str:
        """The one that the server chose; empty where it chose none."""
        return self.headers.get("sec-websocket-protocol", "")

    @property
    def extensions(self) -> str:
        """Those that the server chose; empty where it chose none."""
        return self.headers.get("sec-websocket-extensions", "")

    def send(self, *frames: WireFrame) -> None:
        """Sends frames at once. Where the server has hung up already, what it sent before can still be received."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(b"".join(frame.to_bytes() for frame in frames))

    def say(self, text: str) -> None:
        """Sends a text message."""
        self.send(WireFrame(TEXT, text.encode()))

    def frame(self) -> WireFrame:
        """The next frame as it comes. Raises ConnectionEnded, without a code, and TimeoutError."""
        self._socket.settimeout(self.timeout_s)
        first, second = self._take(2)
        length = second & 0x7F
        if length > 125:
            [length] = struct.unpack("!H" if length == 126 else "!Q", self._take(2 if length == 126 else 8))
        key = self._take(4) if second & 0x80 else b""
        payload = self._take(length)
        return WireFrame(
            first & 0xF, masked(payload, key) if key else payload, bool(first & 0x80), first >> 4 & 7, bool(key)
        )

    def next(self) -> tuple[int, bytes]:
        """The next message, TEXT or BINARY and its payload, or the next PONG. Pings are answered.

        Raises ConnectionEnded where the connection is closed, after the answer to that, and TimeoutError.
        """
        while True:
            frame = self.frame()
            if frame.opcode == CLOSE:
                self.send(WireFrame(CLOSE, frame.payload[:2]))
                code = struct.unpack("!H", frame.payload[:2])[0] if len(frame.payload) > 1 else 1005
                raise ConnectionEnded(code, frame.payload[2:].decode("utf-8", "replace"))
            if frame.opcode == PING:
                self.send(WireFrame(PONG, frame.payload))
            elif frame.opcode == PONG:
                return PONG, frame.payload
            else:
                self._binary = frame.opcode == BINARY if frame.opcode != CONTINUATION else self._binary
                self._pieces.append(frame.payload)
                if frame.fin:
                    whole, self._pieces = b"".join(self._pieces), []
                    return BINARY if self._binary else TEXT, whole

    def text(self, within_s: float | None = None) -> str:
        """The next text message; what else comes is left out. Raises as ``next`` does."""
        end = time.monotonic() + (within_s or self.timeout_s)
        while time.monotonic() < end:
            opcode, payload = self.next()
            if opcode == TEXT:
                return payload.decode()
        raise TimeoutError("no text message")

    def close(self) -> None:
        """Closes it with 1000, without waiting for the answer."""
        with contextlib.suppress(OSError):
            self.send(WireFrame(CLOSE, struct.pack("!H", 1000)))
        self._socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, host: str, handshake: Handshake) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(handshake.to_bytes(host, key))
        try:
            while b"\r\n\r\n" not in self._read and len(self._read) < LONGEST_HEAD:
                self._more()
        except ConnectionEnded:
            raise Refused(None) from None
        head, _, rest = bytes(self._read).partition(b"\r\n\r\n")
        self._read = bytearray(rest)
        status, *lines = head.decode("latin-1").split("\r\n")
        words = status.split()
        number = int(words[1]) if len(words) > 1 and words[1].isdigit() else None
        if number != 101:
            raise Refused(number)
        pairs = (line.partition(":") for line in lines)
        self.headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        proof = base64.b64encode(hashlib.sha1(key.encode() + GUID).digest()).decode()
        if self.headers.get("sec-websocket-accept") != proof:
            raise Refused(number)

    def _take(self, count: int) -> bytes:
        while len(self._read) < count:
            self._more()
        taken = bytes(self._read[:count])
        del self._read[:count]
        return taken

    def _more(self) -> None:
        try:
            data = self._socket.recv(262144)
        except ConnectionError:
            data = b""
        if not data:
            raise ConnectionEnded(None)
        self._read += data
