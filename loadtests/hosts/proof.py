"""Run a minimal HTTP server on the port to which load will be sent.

The server proves that SSH reached the host of this port, and answers requests that measure the network.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer

from loadtests.errors import UserError
from loadtests.hosts.network import proof

LONG_BYTES = 16 * 2**20
MAX_NONCE = 64


class _Server(ThreadingTCPServer):
    """A TCP server that, unlike ``http.server.HTTPServer``, doesn't look up its own host name."""

    allow_reuse_address = True
    daemon_threads = True


class ProofServer:
    """Answer each nonce with its proof (``loadtests.hosts.network.proof``) until the server is closed."""

    def __init__(self, token: str, bind: str, port: int) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            timeout = 10.0

            def do_GET(self) -> None:
                name = self.path[1 : MAX_NONCE + 1]
                body = bytes(LONG_BYTES) if name == "long" else proof(token, name)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *values: object) -> None:
                pass

        try:
            self._server = _Server((bind, port), Handler)
        except OSError as error:
            raise UserError(f"that machine can't listen on {bind}:{port}: {error.strerror}") from None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the server, which frees the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
