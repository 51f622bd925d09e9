import contextlib
import importlib
import io
import logging
import os

import django
import pytest
from django.core.cache import caches
from django.core.management import call_command
from django.test import override_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
django.setup()

from questionnaire import failures  # noqa: E402
from testproject.settings.sessions import ENGINES  # noqa: E402

from tests.fixtures.databases import used_database  # noqa: E402
from tests.questionnaire.browser import Browser  # noqa: E402


@pytest.fixture(autouse=True)
def host_of_the_test_client():
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        yield


@pytest.fixture(scope="module")  # because other modules in the same process use another database
def database(tmp_path_factory):
    """Prepare a database."""
    with used_database(f"sqlite:///{tmp_path_factory.mktemp('questionnaire')}/db.sqlite3"):
        call_command("migrate", verbosity=0, stdout=io.StringIO())
        yield


IN_MEMORY = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
ANSWERS = {
    "name": "Ada",
    "household": "3",
    "moved": "2020-02-29",
    "work": "yes",
    "employer": "Analytical Engines",
    "travel": ["foot", "train"],
}


@pytest.fixture
def answers():
    """Return an answer to every page."""
    return dict(ANSWERS)


@pytest.fixture
def log(caplog):
    """Return a function that returns the error lines logged so far."""
    caplog.set_level(logging.WARNING)
    return lambda: [record.getMessage() for record in caplog.records if record.name == "questionnaire"]


@pytest.fixture(autouse=True)
def kinds_of_failures():
    failures.of_store.cache_clear()
    yield
    failures.of_store.cache_clear()


@pytest.fixture
def browser(database):
    return Browser()


@pytest.fixture
def another_browser(database):
    return Browser()


@pytest.fixture
def store_of(request, monkeypatch, tmp_path):
    """Return a function that returns the session class of a store, such as ``redis``.

    The name may end with a protocol, such as ``datastore over gRPC``. Django uses this store until the end of the test.
    """
    engines = contextlib.ExitStack()

    def store(name):
        where, _, protocol = name.partition(" over ")
        # The tests clear the cache, so they don't use the cache in the settings.
        options = {"SESSION_ENGINE": ENGINES[where], "CACHES": IN_MEMORY}
        if where == "redis":
            options["CACHES"] = request.getfixturevalue("running_redis").caches
        if where in ("db", "cached_db", "cookies"):
            request.getfixturevalue("database")
        if where == "file":
            options["SESSION_FILE_PATH"] = str(tmp_path)
        if where == "datastore":
            request.getfixturevalue("datastore").reset()
            monkeypatch.setenv("DATASTORE_GRPC", "1" if protocol == "gRPC" else "0")
        engines.enter_context(override_settings(**options))
        caches["default"].clear()
        found = importlib.import_module(ENGINES[where]).SessionStore
        if where == "file":
            monkeypatch.setattr(found, "_storage_path", str(tmp_path), raising=False)
        return found

    with engines:
        yield store
