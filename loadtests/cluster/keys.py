"""Encrypt the connections between Locust's master and workers (CurveZMQ, curvezmq.org).

The keys come from the token of a cluster. A client without the token can neither send nor receive data.
"""

from __future__ import annotations

import hashlib
from typing import Any

import zmq
from locust.rpc import zmqrpc
from zmq.utils import z85


def encrypt(token: str, most_bytes: int = -1) -> None:
    """Make Locust's sockets in this process encrypt their data.

    The SHA-256 of the token is the master's secret key, so a worker that knows the token knows the master's public key.
    Each worker generates its own pair of keys.

    Args:
        token: The token of the cluster.
        most_bytes: The maximum size of a message. A socket closes a connection with a longer message.
    """
    secret = z85.encode(hashlib.sha256(token.encode()).digest())
    sockets: Any = zmqrpc.BaseSocket
    plain = sockets.__init__

    def init(self: Any, kind: int, *rest: Any) -> None:
        plain(self, kind, *rest)
        self.socket.maxmsgsize = most_bytes
        if kind == zmq.ROUTER:
            self.socket.curve_server, self.socket.curve_secretkey = True, secret
        else:
            self.socket.curve_publickey, self.socket.curve_secretkey = zmq.curve_keypair()
            self.socket.curve_serverkey = zmq.curve_public(secret)

    sockets.__init__ = init
