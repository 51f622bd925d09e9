import asyncio
import io
import itertools
import os

import django
import pytest
from django.core.management import call_command
from django.test import AsyncClient, Client, override_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings.base")
django.setup()

from loadtests.setups import needs  # noqa: E402
from tests.fixtures.databases import postgresql, used_database  # noqa: E402


@pytest.fixture(autouse=True)
def host_of_the_test_client():
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        yield


@pytest.fixture(params=["", "/async"])
def prefix(request):
    return request.param


@pytest.fixture
def wsgi() -> Client:
    """Return a client for Django's WSGI handler. The client returns error responses instead of raising exceptions."""
    return Client(raise_request_exception=False)


@pytest.fixture
def asgi() -> AsyncClient:
    """Return a client for Django's ASGI handler. The client returns error responses instead of raising exceptions."""
    return AsyncClient(raise_request_exception=False)


@pytest.fixture
def answers(wsgi, asgi):
    """Return a function that sends a request over WSGI and ASGI and returns each response with its whole body."""

    async def through_asgi(method, path, **kwargs):
        response = await getattr(asgi, method)(path, **kwargs)
        if not response.streaming:
            return response, response.content
        if response.is_async:
            return response, b"".join([part async for part in response.streaming_content])
        return response, b"".join(response.streaming_content)  # Django removes the body of responses to HEAD

    def both(method, path, **kwargs):
        response = getattr(wsgi, method)(path, **kwargs)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        response.close()
        return (response, body), asyncio.run(through_asgi(method, path, **kwargs))

    return both


@pytest.fixture
def ask(answers):
    """Return a function that sends a request over WSGI and ASGI and returns its status, content type and body.

    The function fails if the two responses differ.
    """

    def both(method, path, **kwargs):
        here, there = (
            (response.status_code, response.headers.get("Content-Type"), body)
            for response, body in answers(method, path, **kwargs)
        )
        assert here == there
        return here

    return both


@pytest.fixture(scope="session")
def new_postgresql():
    """Return a function that creates an empty database and returns its URL."""
    if missing := needs.missing(["postgresql"]):
        pytest.skip(missing)
    import psycopg

    numbers = itertools.count()  # pytest recreates module fixtures for each file, so the names must differ

    def make(name):
        name = f"{name}_{next(numbers)}"
        with psycopg.connect(url.format("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return url.format(name)

    with postgresql() as folder:
        url = f"postgresql://postgres@/{{}}?host={folder}"
        yield make


POSTGRESQL = pytest.param("postgresql", marks=[pytest.mark.servers, pytest.mark.exhaustive])


@pytest.fixture(scope="module", params=["sqlite", POSTGRESQL])
def database(request, tmp_path_factory):
    """Prepare an SQLite or PostgreSQL database, and return the kind of the database."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('database')}/db.sqlite3"
    else:
        url = request.getfixturevalue("new_postgresql")("endpoints")
    with used_database(url):
        call_command("prepare", stdout=io.StringIO())
        yield request.param
