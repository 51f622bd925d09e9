"""Test that lookups from threads and coroutines overlap, according to the datastore's counts.

``tests/serve/test_lost_sessions.py`` tests greenlets on the setups that use them.
"""

import os
import subprocess
import sys

import pytest

pytest.importorskip("google.cloud.datastore")

from loadtests.files import ROOT
from tests.fixtures import datastores

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers, pytest.mark.slow]

AT_ONCE = 10
BEGIN = """
import asyncio
from concurrent.futures import ThreadPoolExecutor
from datastore_sessions import messages
from datastore_sessions.clients import acall, call
lookup = messages.lookup("somebody")
"""
THREADS = f"""{BEGIN}
call("lookup", lookup)  # the first one makes the connection
with ThreadPoolExecutor({AT_ONCE}) as threads:
    list(threads.map(lambda _: call("lookup", lookup), range({AT_ONCE})))
"""
COROUTINES = f"""{BEGIN}
async def main():
    await acall("lookup", lookup)
    await asyncio.gather(*(acall("lookup", lookup) for _ in range({AT_ONCE})))

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """Run a slow datastore."""
    server = datastores.EmbeddedDatastore(tmp_path_factory.mktemp("slow"), DELAY_MS=200).start()
    yield server
    server.stop()


@pytest.mark.parametrize(("script", "grpc"), [(THREADS, "1"), (THREADS, "0"), (COROUTINES, "1")])
def test_ten_lookups_overlap(slow, script, grpc):
    slow.reset()
    mine = {name: value for name, value in os.environ.items() if not name.startswith("DATASTORE_")}
    env = {**mine, "DATASTORE_GRPC": grpc, "RUN_DIR": str(slow.folder), "PYTHONPATH": str(ROOT / "testproject")}
    subprocess.run([sys.executable, "-c", script], env=env, check=True, timeout=60)
    counts = slow.counts()
    assert counts["requests"] == {"Lookup": AT_ONCE + 1}
    assert counts["most_in_flight"] > AT_ONCE / 2
