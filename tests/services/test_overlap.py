"""Whether lookups over gRPC wait beside each other or one after the other: counted by the datastore, and told in their
order by whoever looks up; nothing is timed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("google.cloud.datastore")

from tests.fixtures import datastores

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers, pytest.mark.slow]

PROJECT = Path(__file__).resolve().parents[2] / "testproject"
AT_ONCE = 10
DELAY_MS = 200

THREADS = """
import json
from concurrent.futures import ThreadPoolExecutor
from datastore_sessions import messages
from datastore_sessions.clients import call

told = []

def look_up(number):
    told.append(("begin", number))
    call("lookup", messages.lookup(["somebody"]))
    told.append(("end", number))

look_up(0)  # the first one makes the connection
with ThreadPoolExecutor({at_once}) as threads:
    list(threads.map(look_up, range({at_once})))
print(json.dumps(told[2:]))
"""
GEVENT = """
from gevent import monkey
monkey.patch_all()
import json
from gevent.pool import Pool
from datastore_sessions import messages
from datastore_sessions.clients import call

told = []

def look_up(number):
    told.append(("begin", number))
    call("lookup", messages.lookup(["somebody"]))
    told.append(("end", number))

look_up(0)
Pool({at_once}).map(look_up, range({at_once}))
print(json.dumps(told[2:]))
"""
ASYNC = """
import asyncio
import json
from datastore_sessions import messages
from datastore_sessions.clients import acall

told = []

async def look_up(number):
    told.append(("begin", number))
    await acall("lookup", messages.lookup(["somebody"]))
    told.append(("end", number))

async def main():
    await look_up(0)
    await asyncio.gather(*map(look_up, range({at_once})))

asyncio.run(main())
print(json.dumps(told[2:]))
"""
ONE_BY_ONE = [[what, number] for number in range(AT_ONCE) for what in ("begin", "end")]


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
        pytest.param(THREADS, {"DATASTORE_GRPC": "0"}, True),
        (ASYNC, {"DATASTORE_GRPC": "1"}, True),
        (GEVENT, {"DATASTORE_GRPC": "1"}, True),
        pytest.param(GEVENT, {"DATASTORE_GRPC": "0"}, True),
        (GEVENT, {"DATASTORE_GRPC": "1", "GRPC_GEVENT": "0"}, False),
    ],
    ids=["threads", "threads, HTTP", "async", "gevent", "gevent, HTTP", "gevent, gRPC not told"],
)
def test_ten_lookups(slow, script, env, overlap):
    slow.reset()
    mine = {name: value for name, value in os.environ.items() if not name.startswith("DATASTORE_")}
    env = {**mine, **env, "RUN_DIR": str(slow.folder), "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-c", script.format(at_once=AT_ONCE)]
    told = json.loads(subprocess.run(command, env=env, check=True, timeout=60, stdout=subprocess.PIPE).stdout)
    counts = slow.counts()
    assert counts["requests"] == {"Lookup": AT_ONCE + 1}
    assert sorted(told) == sorted(ONE_BY_ONE)
    if overlap:
        assert counts["most_at_once"] > AT_ONCE / 2
        assert [what for what, _ in told[: AT_ONCE // 2]] == ["begin"] * (AT_ONCE // 2)
    else:
        assert counts["most_at_once"] == 1
        assert told == ONE_BY_ONE
