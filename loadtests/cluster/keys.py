"""Encryption between Locust's master and workers (CurveZMQ, curvezmq.org), with keys that come from the token of a
cluster: who does not know it is not heard, and hears nothing."""

from __future__ import annotations

import hashlib
from typing import Any

import zmq
from locust.rpc import zmqrpc
from zmq.utils import z85


def encrypt(token: str, most_bytes: int = -1) -> None:
    """Has Locust's sockets of this process encrypt from now on, and close a connection that brings a message of over
    ``most_bytes``. The master's secret key is the token's SHA-256, so a worker that knows the token knows the master's
    public key; its own pair is drawn."""
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
