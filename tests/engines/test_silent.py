"""Test silent clients, which connect to the server and never send a request."""

import socketserver
from threading import Event, Lock, Thread

import pytest

from loadtests.engines import get
from loadtests.workload import Load

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"
SILENT = 3


class Server(socketserver.ThreadingTCPServer):
    """A server that closes its first connection, and answers no requests until the disconnected client reconnects."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock, self.accepted, self.ended_silently, self.all_came = Lock(), 0, 0, Event()


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        with self.server.lock:
            self.server.accepted += 1
            if self.server.accepted == 1:
                return
            if self.server.accepted == 1 + SILENT + 1:
                self.server.all_came.set()
        has_sent = False
        while received := self.request.recv(65536):
            assert received.endswith(b"\r\n\r\n")
            has_sent = True
            self.server.all_came.wait()
            self.request.sendall(ANSWER)
        with self.server.lock:
            self.server.ended_silently += not has_sent


@pytest.fixture
def server():
    with Server() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.all_came.set()  # let the handlers end, because a failed test would never end otherwise
        server.shutdown()
        thread.join()


@pytest.mark.servers
def test_silent_clients_stay_and_reconnect(server):
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    result = get("openloop").run(Load.of_url(url, rate=20, connections=1, silent=SILENT, duration_s=1))
    assert (result.ok, result.errors) == (20, {})
    server.server_close()  # waits for the end of all handlers
    assert (server.accepted, server.ended_silently) == (1 + SILENT + 1, SILENT)
