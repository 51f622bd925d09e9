"""The databases of these tests: what one of them leaves behind is not asked in the next."""

import asyncio

from asgiref.sync import sync_to_async
from django.db import connections

from tests.fixtures.databases import used_database


def asked():
    """The database that the thread of asynchronous code asks."""
    return asyncio.run(sync_to_async(lambda: str(connections["default"].settings_dict["NAME"]))())


def test_coroutines_use_the_database_of_a_test_as_threads_do(tmp_path):
    before = asked()
    with used_database(f"sqlite:///{tmp_path}/another.sqlite3"):
        assert asked() == str(tmp_path / "another.sqlite3")
    assert asked() == before
