"""Encrypt the messages between Locust's master and workers (CurveZMQ, curvezmq.org).

A worker accepts only the master whose public key its token contains. The master accepts only workers with the workers'
key, and checks this key over ZAP (rfc.zeromq.org/spec/27).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gevent
import zmq.green as zmq
from locust.rpc import zmqrpc
from zmq.utils import z85

from loadtests.engines.load_token import KEY_BYTES, MASTER, WORKERS, key

ZAP = "inproc://zeromq.zap.01"
DOMAIN = b"load"  # because a domain is set, each connection needs an answer over ZAP


def secure_master(token: str, max_bytes: int) -> None:
    """Encrypt this process's Locust sockets as the master, with the keys of the run's token.

    A worker that sends a message of more than ``max_bytes`` loses its connection.
    """
    workers = z85.decode(zmq.curve_public(z85.encode(key(token, WORKERS))))

    def set_keys(socket: Any) -> None:
        authority = socket.context.socket(zmq.REP)
        authority.bind(ZAP)
        gevent.spawn(_admit, authority, workers)
        socket.maxmsgsize = max_bytes
        socket.zap_domain, socket.curve_server = DOMAIN, True
        socket.curve_secretkey = z85.encode(key(token, MASTER))

    _secure(set_keys)


def _admit(authority: Any, known: bytes) -> None:
    while True:
        version, number, *_, public = authority.recv_multipart()
        status = b"200" if public == known else b"400"
        authority.send_multipart([version, number, status, b"", b"", b""])


def secure_worker(token: str) -> None:
    """Encrypt this process's Locust sockets as a worker, with the keys of the workers' token."""
    keys = bytes.fromhex(token)
    master, secret = z85.encode(keys[:KEY_BYTES]), z85.encode(keys[KEY_BYTES:])

    def set_keys(socket: Any) -> None:
        socket.curve_serverkey = master
        socket.curve_publickey, socket.curve_secretkey = zmq.curve_public(secret), secret

    _secure(set_keys)


def _secure(set_keys: Callable[[Any], None]) -> None:
    sockets: Any = zmqrpc.BaseSocket
    plain = sockets.__init__

    def init(self: Any, *arguments: Any) -> None:
        plain(self, *arguments)
        set_keys(self.socket)

    sockets.__init__ = init
