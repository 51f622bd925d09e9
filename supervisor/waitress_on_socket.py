"""Waitress on the socket that supervisor opened, as standard input; waitress-serve has no option for that."""

import logging
import os
import pkgutil
import socket
import sys

import waitress

# A line for each request that waits; no other server writes one.
logging.getLogger("waitress.queue").setLevel(logging.ERROR)

sys.path.insert(0, os.getcwd())
waitress.serve(
    pkgutil.resolve_name(os.environ["WSGI_APP"]),
    sockets=[socket.socket(fileno=0)],
    threads=int(os.environ["BENCH_THREADS"]),
    backlog=int(os.environ["BENCH_BACKLOG"]),
    channel_timeout=int(os.environ["BENCH_KEEP_ALIVE"]),
    # A hundred by default; more would wait unanswered. poll, because select knows no descriptor above 1023.
    connection_limit=1000,
    asyncore_use_poll=True,
)
