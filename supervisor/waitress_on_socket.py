"""Run Waitress on the socket that supervisor passes as standard input, because waitress-serve lacks this option."""

import logging
import os
import pkgutil
import socket
import sys

import waitress

# By default, Waitress logs a line for each waiting request, unlike the other servers.
logging.getLogger("waitress.queue").setLevel(logging.ERROR)

sys.path.insert(0, os.getcwd())
waitress.serve(
    pkgutil.resolve_name(os.environ["WSGI_APP"]),
    sockets=[socket.socket(fileno=0)],
    threads=int(os.environ["BENCH_THREADS"]),
    backlog=int(os.environ["BENCH_BACKLOG"]),
    channel_timeout=int(os.environ["BENCH_KEEP_ALIVE"]),
    # With the default limit of a hundred connections, further clients would wait. poll is necessary because select
    # supports only file descriptors up to 1023.
    connection_limit=1000,
    asyncore_use_poll=True,
)
