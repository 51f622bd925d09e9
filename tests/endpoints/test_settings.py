"""Test the settings that depend on environment variables."""

import runpy
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings
from testproject.settings.database import databases
from testproject.settings.layers import layer
from testproject.settings.middleware import USUAL, middleware

HERE = Path("/somewhere")


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("", "/somewhere/db.sqlite3"),
        ("sqlite:////dev/shm/x.sqlite3", "/dev/shm/x.sqlite3"),
        ("sqlite:///x.sqlite3", "/somewhere/x.sqlite3"),
    ],
)
def test_sqlite_is_the_default_database(url, file):
    database = databases({"DATABASE_URL": url, "CONN_MAX_AGE": ""}, HERE)["default"]
    assert (database["ENGINE"], database["NAME"]) == ("django.db.backends.sqlite3", Path(file))
    assert (database["OPTIONS"]["transaction_mode"], database["CONN_MAX_AGE"]) == ("IMMEDIATE", 0)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_postgresql_uses_a_pool(scheme):
    database = databases({"DATABASE_URL": f"{scheme}://me:p%40ss@db.example:5433/bench?sslmode=require"}, HERE)
    assert database["default"] == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "bench",
        "OPTIONS": {
            "user": "me",
            "password": "p@ss",
            "host": "db.example",
            "port": "5433",
            "sslmode": "require",
            "pool": {"min_size": 1, "max_size": 16},
        },
        "CONN_MAX_AGE": 0,
    }


def test_async_backend_replaces_the_engine():
    environ = {"DATABASE_URL": "postgresql:///bench", "ASYNC_BACKEND": "1"}
    assert databases(environ, HERE)["default"]["ENGINE"] == "django_async_backend.db.backends.postgresql"


@pytest.mark.parametrize(("seconds", "age"), [("0", 0), ("600", 600), ("none", None)])
def test_conn_max_age_replaces_the_pool(seconds, age):
    environ = {"DATABASE_URL": "postgresql:///bench?host=/tmp", "CONN_MAX_AGE": seconds}
    database = databases(environ, HERE)["default"]
    assert database["CONN_MAX_AGE"] == age
    assert database["OPTIONS"] == {"host": "/tmp"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, USUAL),
        ("", USUAL),
        ("0-sync", []),
        ("0-async", []),
        ("7-sync", ["endpoints.nothing.sync_nothing"] * 7),
        ("7-async", ["endpoints.nothing.async_nothing"] * 7),
        ("usual+1-sync", [*USUAL, "endpoints.nothing.sync_nothing"]),
    ],
)
def test_middlewares_variable_selects_middleware(text, found):
    assert middleware({} if text is None else {"MIDDLEWARES": text}) == found
    assert len(USUAL) == 7


@pytest.mark.parametrize("text", ["7-sync", "7-async", "usual-sync", "usual+1-async"])
def test_request_passes_through_middleware(ask, prefix, text):
    with override_settings(MIDDLEWARE=middleware({"MIDDLEWARES": text})):
        assert ask("get", f"{prefix}/")[::2] == (200, b"OK")


def test_channel_prefix_depends_on_port(monkeypatch):
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1/0")
    prefixes = set()
    for port in ("8000", "8001"):
        monkeypatch.setenv("BENCH_PORT", port)
        found = runpy.run_module("testproject.settings.channels_redis")
        prefixes.add(found["CHANNEL_LAYERS"]["default"]["CONFIG"]["prefix"])
    assert len(prefixes) == 2


@pytest.mark.parametrize("name", ["redis", "pubsub"])
def test_redis_layers_have_no_timeout(name):
    [host] = layer({"CHANNEL_LAYER": name, "RUN_DIR": "/run/mine"})["CONFIG"]["hosts"]
    assert host == {"address": "unix:///run/mine/redis.sock", "socket_timeout": None, "max_connections": 4096}
    [host] = layer({"CHANNEL_LAYER": name, "REDIS_URL": "redis://there", "RUN_DIR": "/run/mine"})["CONFIG"]["hosts"]
    assert host["address"] == "redis://there"


REFUSED = [
    (databases, {"DATABASE_URL": "mysql://localhost/x"}, "DATABASE_URL must start with .*, not with 'mysql'"),
    (databases, {"DATABASE_URL": "bench"}, "DATABASE_URL must start with .*, not with 'bench'"),
    (databases, {"DATABASE_URL": "postgresql://localhost"}, "the name of the database is missing"),
    (databases, {"DATABASE_URL": "postgresql://localhost/x?colour=red"}, "colour"),
    (databases, {"ASYNC_BACKEND": "1"}, "ASYNC_BACKEND needs PostgreSQL"),
    (databases, {"CONN_MAX_AGE": "long"}, "CONN_MAX_AGE must be .*, not 'long'"),
    (databases, {"CONN_MAX_AGE": "-1"}, "CONN_MAX_AGE must be .*, not '-1'"),
    (layer, {"CHANNEL_LAYER": "rabbit"}, "CHANNEL_LAYER must be one of memory, ipc, redis, pubsub, not 'rabbit'"),
    (layer, {"CHANNEL_LAYER": "ipc"}, "Set IPC_DIR"),
    (layer, {"CHANNEL_LAYER": "pubsub"}, "Set REDIS_URL"),
]
OTHER_MIDDLEWARE = ["7", "sync", "7-both", "-1-sync", "100-sync", "7-sync ", "usual", "usual+7"]
REFUSED += [(middleware, {"MIDDLEWARES": text}, "MIDDLEWARES must be") for text in OTHER_MIDDLEWARE]


@pytest.mark.parametrize(("read", "environ", "word"), REFUSED)
def test_invalid_setting_is_reported(read, environ, word):
    with pytest.raises(ImproperlyConfigured, match=word):
        read(environ, HERE) if read is databases else read(environ)
