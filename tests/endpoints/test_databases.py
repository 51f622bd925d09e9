"""Test the gauge that counts requests that wait for a connection of Django's pool."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from loadtests.observe.connections import POOL_FILES
from loadtests.observe.gauges import GaugeFiles
from loadtests.setups import needs
from tests.fixtures.databases import postgresql, used_database
from tests.fixtures.waiting import wait_for


@pytest.fixture
def waits(tmp_path):
    """Return a function that returns how many requests of this process waited for a connection of the pool."""
    from django.db.backends.signals import connection_created
    from endpoints import pool_waits

    before = list(connection_created.receivers)
    pool_waits.install(str(tmp_path))
    files = GaugeFiles(tmp_path, files=POOL_FILES)

    def read():
        files.look()
        return files.read()[0]

    yield read
    files.close()
    connection_created.receivers[:] = before


@pytest.mark.exhaustive
@pytest.mark.skipif(bool(needs.missing_needs(["postgresql"])), reason="no PostgreSQL: apt-get install postgresql")
def test_pool_waits_are_counted(waits):
    leave, held = threading.Event(), []

    def hold():
        with connections["default"].cursor() as cursor:
            held.append(cursor.execute("SELECT 1"))
            leave.wait(60)
        connections["default"].close()

    with postgresql() as folder, used_database(f"postgresql://testproject@/testproject?host={folder}"):
        pool = connections["default"].pool
        with ThreadPoolExecutor(pool.max_size + 3) as threads:
            begun = [threads.submit(hold) for _ in range(pool.max_size)]
            wait_for(lambda: len(held) == pool.max_size)
            growing = waits()
            begun += [threads.submit(hold) for _ in range(3)]
            wait_for(lambda: pool.get_stats()["requests_waiting"] == 3)
            assert waits() == growing  # a wait is counted only after the wait has ended
            leave.set()
        assert [one.result() for one in begun] == [None] * len(begun)
        assert waits() - growing == 3
