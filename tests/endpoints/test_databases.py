"""The databases of these tests: what one of them leaves behind is not asked in the next."""

import asyncio
import threading

import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from loadtests.observe.connections import POOL_FILES
from loadtests.observe.gauges import GaugeFiles
from loadtests.setups import needs
from tests.fixtures.databases import postgresql, used_database
from tests.fixtures.waiting import wait_for


def database_name():
    """The database that the thread of asynchronous code asks."""
    return asyncio.run(sync_to_async(lambda: str(connections["default"].settings_dict["NAME"]))())


def test_coroutines_use_the_database_of_a_test_as_threads_do(tmp_path):
    before = database_name()
    with used_database(f"sqlite:///{tmp_path}/another.sqlite3"):
        assert database_name() == str(tmp_path / "another.sqlite3")
    assert database_name() == before


@pytest.fixture
def waits(tmp_path):
    """A function: how many requests have waited for a connection of the pool, as this process shows."""
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
def test_as_many_waits_are_shown_as_requests_waited_for_djangos_pool(waits):
    leave, held = threading.Event(), []

    def hold():
        with connections["default"].cursor() as cursor:
            held.append(cursor.execute("SELECT 1"))
            leave.wait()
        connections["default"].close()

    def begin(count):
        begun = [threading.Thread(target=hold) for _ in range(count)]
        for thread in begun:
            thread.start()
        return begun

    with postgresql() as folder, used_database(f"postgresql://testproject@/testproject?host={folder}"):
        pool = connections["default"].pool
        threads = begin(pool.max_size)
        wait_for(lambda: len(held) == pool.max_size)
        growing = waits()
        threads += begin(3)
        wait_for(lambda: pool.get_stats()["requests_waiting"] == 3)
        assert waits() == growing  # none of them has a connection yet
        leave.set()
        for thread in threads:
            thread.join()
        assert waits() - growing == 3
