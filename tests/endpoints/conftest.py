import asyncio
import contextlib
import io
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import django
import pytest
from django.core.management import call_command
from django.test import AsyncClient, Client, override_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
django.setup()

from tests.fixtures.databases import used_database  # noqa: E402


@pytest.fixture(autouse=True)
def host_of_the_test_client():
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        yield


@pytest.fixture(params=["", "/async"])
def prefix(request):
    return request.param


@pytest.fixture
def wsgi() -> Client:
    """A client of Django's WSGI handler, which gets answers where tests would see exceptions."""
    return Client(raise_request_exception=False)


@pytest.fixture
def asgi() -> AsyncClient:
    """The same for the ASGI handler."""
    return AsyncClient(raise_request_exception=False)


@pytest.fixture
def answers(wsgi, asgi):
    """A function that sends a request through WSGI and ASGI: two pairs of a response and its whole body."""

    async def through_asgi(method, path, **kwargs):
        response = await getattr(asgi, method)(path, **kwargs)
        if not response.streaming:
            return response, response.content
        if response.is_async:
            return response, b"".join([part async for part in response.streaming_content])
        return response, b"".join(response.streaming_content)  # Django empties the answers that may have no body

    def both(method, path, **kwargs):
        response = getattr(wsgi, method)(path, **kwargs)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        response.close()
        return (response, body), asyncio.run(through_asgi(method, path, **kwargs))

    return both


@pytest.fixture(scope="session")
def postgresql_server():
    """The URL of a PostgreSQL server's database, up to its name; the server is stopped at the end."""
    programs = [Path(found).parent for found in [shutil.which("initdb")] if found]
    programs += sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("there is no PostgreSQL server here (apt-get install postgresql)")
    # It refuses to run as root. Its folder is a short path, for the socket in it.
    user = {}
    if os.geteuid() == 0:
        names = {entry.pw_name for entry in pwd.getpwall()}
        user = {"user": "postgres" if "postgres" in names else "nobody", "extra_groups": []}
    folder = tempfile.mkdtemp(prefix="pg-", dir="/tmp")
    if user:
        shutil.chown(folder, user["user"])
    try:
        subprocess.run(
            [programs[0] / "initdb", "-D", f"{folder}/data", "-U", "tests", "--auth=trust", "-E", "UTF8", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            **user,
        )
        with open(f"{folder}/log", "w") as log:
            options = {"listen_addresses": "", "fsync": "off", "unix_socket_directories": folder}
            server = subprocess.Popen(
                [programs[0] / "postgres", "-D", f"{folder}/data"]
                + [part for key, value in options.items() for part in ("-c", f"{key}={value}")],
                stdout=log,
                stderr=log,
                cwd=folder,
                **user,
            )
        try:
            yield _once_it_answers(f"postgresql://tests@/{{}}?host={folder}")
        finally:
            server.terminate()  # smart shutdown waits for clients; a second signal, "fast", does not
            server.send_signal(2)
            server.wait(30)
    finally:
        shutil.rmtree(folder)


def _once_it_answers(url):
    import psycopg

    end = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(url.format("postgres")).close()
            return url
        except psycopg.OperationalError:
            assert time.monotonic() < end
            time.sleep(0.1)


@pytest.fixture(scope="session")
def new_postgresql(postgresql_server):
    """A function that makes an empty database and returns its URL."""
    import psycopg

    def make(name):
        with psycopg.connect(postgresql_server.format("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return postgresql_server.format(name)

    return make


POSTGRESQL = pytest.param("postgresql", marks=[pytest.mark.servers, pytest.mark.exhaustive])


@pytest.fixture(scope="session", params=["sqlite", POSTGRESQL])
def database(request, tmp_path_factory):
    """A prepared database of each kind; its name."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('database')}/db.sqlite3"
    else:
        url = request.getfixturevalue("new_postgresql")("endpoints")
    with used_database(url):
        call_command("prepare", stdout=io.StringIO())
        yield request.param


@pytest.fixture
def settings_middleware(monkeypatch):
    """A context in which that is the middleware; it gives the names of those that a request has passed through."""
    from endpoints import nothing

    @contextlib.contextmanager
    def use(middleware):
        passed = []
        for name in ("sync_nothing", "async_nothing"):
            monkeypatch.setattr(nothing, name, _noting(getattr(nothing, name), name, passed))
        with override_settings(MIDDLEWARE=middleware):
            yield passed

    return use


def _noting(factory, name, passed):
    """The middleware, which also notes that a request has passed."""

    def noting(get_response):
        if factory.async_capable:

            async def noted(request):
                passed.append(name)
                return await get_response(request)
        else:

            def noted(request):
                passed.append(name)
                return get_response(request)

        return factory(noted)

    noting.sync_capable, noting.async_capable = factory.sync_capable, factory.async_capable
    return noting
