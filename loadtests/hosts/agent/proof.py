"""A bare HTTP server by which a host proves, on the very port that load is to go to, that it is the one that SSH came
to. It also shows what the network takes by itself."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer

from loadtests.errors import UserError
from loadtests.hosts.network import proof

LONG_BYTES = 16 * 2**20
MOST_NONCE = 64


class _Server(ThreadingTCPServer):
    """One of the library's own for HTTP would first ask the name service who it is."""

    allow_reuse_address = True
    daemon_threads = True


class Prover:
    """Answers on a port until it is closed: a nonce with what only who knows the token makes of it."""

    def __init__(self, token: str, bind: str, port: int) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            timeout = 10.0

            def do_GET(self) -> None:
                asked = self.path[1 : MOST_NONCE + 1]
                body = bytes(LONG_BYTES) if asked == "long" else proof(token, asked)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *values: object) -> None:
                pass

        try:
            self._server = _Server((bind, port), Handler)
        except OSError as error:
            raise UserError(f"nothing can listen on {bind}:{port} there: {error.strerror}") from None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Frees the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
