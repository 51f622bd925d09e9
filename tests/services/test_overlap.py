"""Whether lookups over gRPC wait beside each other or one after the other: counted by the datastore, not timed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("google.cloud.datastore")

from tests.fixtures import datastores

pytestmark = [pytest.mark.servers, pytest.mark.slow]

PROJECT = Path(__file__).resolve().parents[2] / "testproject"
AT_ONCE = 10
DELAY_MS = 200

THREADS = """
from concurrent.futures import ThreadPoolExecutor
from datastore_sessions import messages
from datastore_sessions.clients import call

def look_up(_):
    call("lookup", messages.lookup(["somebody"]))

look_up(0)  # the first one makes the connection
with ThreadPoolExecutor({at_once}) as threads:
    list(threads.map(look_up, range({at_once})))
"""
GEVENT = """
from gevent import monkey
monkey.patch_all()
from gevent.pool import Pool
from datastore_sessions import messages
from datastore_sessions.clients import call

def look_up(_):
    call("lookup", messages.lookup(["somebody"]))

look_up(0)
Pool({at_once}).map(look_up, range({at_once}))
"""
ASYNC = """
import asyncio
from datastore_sessions import messages
from datastore_sessions.clients import acall

async def look_up():
    await acall("lookup", messages.lookup(["somebody"]))

async def main():
    await look_up()
    await asyncio.gather(*(look_up() for _ in range({at_once})))

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """A datastore that takes its time."""
    server = datastores.EmbeddedDatastore(tmp_path_factory.mktemp("slow"), DELAY_MS=DELAY_MS).start()
    yield server
    server.stop()


@pytest.mark.parametrize(
    ("script", "env", "overlap"),
    [
        (THREADS, {"DATASTORE_GRPC": "1"}, True),
        (THREADS, {"DATASTORE_GRPC": "0"}, True),
        (ASYNC, {"DATASTORE_GRPC": "1"}, True),
        (GEVENT, {"DATASTORE_GRPC": "1"}, True),
        (GEVENT, {"DATASTORE_GRPC": "0"}, True),
        (GEVENT, {"DATASTORE_GRPC": "1", "GRPC_GEVENT": "0"}, False),
    ],
    ids=["threads", "threads, HTTP", "async", "gevent", "gevent, HTTP", "gevent, gRPC not told"],
)
def test_ten_lookups(slow, script, env, overlap):
    slow.reset()
    mine = {name: value for name, value in os.environ.items() if not name.startswith("DATASTORE_")}
    env = {**mine, **env, "RUN_DIR": str(slow.folder), "PYTHONPATH": str(PROJECT)}
    subprocess.run([sys.executable, "-c", script.format(at_once=AT_ONCE)], env=env, check=True, timeout=60)
    counts = slow.counts()
    assert counts["asked"] == {"Lookup": AT_ONCE + 1}
    assert counts["most_at_once"] > AT_ONCE / 2 if overlap else counts["most_at_once"] == 1
