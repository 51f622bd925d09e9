"""A small WebSocket client for the contract, based on the protocol of the ``websockets`` library."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import time
from collections.abc import Sequence
from types import TracebackType
from urllib.parse import urlsplit

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Response
from websockets.typing import Origin, Subprotocol
from websockets.uri import parse_uri

READ_BYTES = 1 << 18
NORMAL_CLOSURE = Close(1000, "").serialize()


class Refused(Exception):
    """The server did not open the connection. ``status`` is its answer, or None if there was no valid answer."""

    def __init__(self, status: int | None) -> None:
        super().__init__(f"refused with {status}" if status else "refused without an answer")
        self.status = status


class ConnectionEnded(Exception):
    """The connection is closed.

    ``code`` is the code in the close frame, 1005 if the frame contained no code, or None if there was no close frame.
    """

    def __init__(self, code: int | None, reason: str = "") -> None:
        super().__init__(f"closed with {code} {reason}".rstrip() if code else "dropped")
        self.code = code


@dataclasses.dataclass(frozen=True)
class Handshake:
    """The opening request. ``headers`` are added to the request, or replace headers with the same name."""

    path: str
    origin: str | None = None
    subprotocols: Sequence[str] = ()
    headers: Sequence[tuple[str, str]] = ()


class WebsocketClient:
    """An open connection to the server at ``url`` (``http://HOST:PORT``), as a context manager.

    Each read waits for at most ``timeout_s``.

    Raises:
        Refused: If the server doesn't open the connection.
        OSError: If the server can't be reached.
    """

    def __init__(self, url: str, handshake: Handshake, timeout_s: float = 5.0) -> None:
        server = urlsplit(url)
        self.timeout_s = timeout_s
        self.subprotocol = ""
        self._events: list[Frame | Response] = []
        self._pieces: list[bytes] = []
        self._binary = False
        self._protocol = ClientProtocol(
            parse_uri(f"ws://{server.netloc}{handshake.path}"),
            origin=Origin(handshake.origin) if handshake.origin else None,
            subprotocols=[Subprotocol(name) for name in handshake.subprotocols] or None,
            max_size=None,
        )
        self._socket = socket.create_connection((server.hostname, server.port or 80), timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._open(handshake)
        except BaseException:
            self._socket.close()
            raise

    def send(self, *frames: Frame, masked: bool = True) -> None:
        """Send frames at once. If the server has closed the connection, its earlier messages can still be received."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(b"".join(frame.serialize(mask=masked) for frame in frames))

    def send_text(self, text: str) -> None:
        self.send(Frame(Opcode.TEXT, text.encode()))

    def next(self) -> tuple[Opcode, bytes]:
        """Return the opcode (TEXT, BINARY or PONG) and the payload of the next message or pong. Answer pings.

        Raises:
            ConnectionEnded: If the connection is closed.
            TimeoutError: If nothing arrives in time.
        """
        while True:
            while not self._events:
                if (close := self._protocol.close_rcvd) is not None:
                    raise ConnectionEnded(close.code, close.reason)
                self._receive()
            frame = self._events.pop(0)
            assert isinstance(frame, Frame)
            if frame.opcode is Opcode.PONG:
                return Opcode.PONG, bytes(frame.data)
            if frame.opcode in (Opcode.CLOSE, Opcode.PING):
                continue
            if frame.opcode is not Opcode.CONT:
                self._binary = frame.opcode is Opcode.BINARY
            self._pieces.append(bytes(frame.data))
            if frame.fin:
                message, self._pieces = b"".join(self._pieces), []
                return Opcode.BINARY if self._binary else Opcode.TEXT, message

    def text(self) -> str:
        """Return the next text message and ignore other messages. Raise the same errors as ``next``."""
        end = time.monotonic() + self.timeout_s
        while time.monotonic() < end:
            opcode, payload = self.next()
            if opcode is Opcode.TEXT:
                return payload.decode()
        raise TimeoutError("no text message")

    def close(self) -> None:
        """Close with code 1000, without waiting for the answer."""
        with contextlib.suppress(OSError):
            self.send(Frame(Opcode.CLOSE, NORMAL_CLOSURE))
        self._socket.close()

    def __enter__(self) -> WebsocketClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, handshake: Handshake) -> None:
        request = self._protocol.connect()
        for name, value in handshake.headers:
            if name in request.headers:
                del request.headers[name]
            request.headers[name] = value
        self._protocol.send_request(request)
        self._flush()
        with contextlib.suppress(ConnectionEnded):
            while not self._events and self._protocol.handshake_exc is None:
                self._receive()
        match self._protocol.handshake_exc:
            case None:
                self._events.pop(0)
            case InvalidStatus() as error:
                raise Refused(error.response.status_code)
            case _:  # the answer isn't HTTP, or RFC 6455 forbids it
                found = self._events and self._events[0]
                raise Refused(found.status_code if isinstance(found, Response) else None)
        self.subprotocol = self._protocol.subprotocol or ""

    def _receive(self) -> None:
        self._socket.settimeout(self.timeout_s)
        try:
            data = self._socket.recv(READ_BYTES)
        except ConnectionError:
            data = b""
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        self._events += [event for event in self._protocol.events_received() if isinstance(event, Frame | Response)]
        self._flush()
        if not data:
            raise ConnectionEnded(None)

    def _flush(self) -> None:
        """Send the protocol's automatic answers: pongs, and the echo of a close frame."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(b"".join(self._protocol.data_to_send()))
