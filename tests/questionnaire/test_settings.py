"""Test the session settings from the environment."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from testproject.settings import sessions as settings
from testproject.settings.sessions import sessions

from loadtests.plan import study
from loadtests.setups import knobs, services


def test_database_is_the_default_store():
    found = sessions({})
    assert found.engine == "django.contrib.sessions.backends.db"
    assert (found.service, found.state_bytes) == (None, 8192)
    assert sessions({"SESSIONS": "cookies"}).state_bytes == 2048


def test_harness_lists_the_same_stores():
    assert tuple(settings.ENGINES) == knobs.SESSIONS
    assert settings.STATE_BYTES == knobs.STATE_BYTES


@pytest.mark.parametrize("where", ["redis", "cached_db"])
def test_redis_url_replaces_redis_socket(where):
    env = {"SESSIONS": where, "RUN_DIR": "/run/x"}
    found = sessions(env)
    assert found.caches["default"]["LOCATION"] == "unix:///run/x/redis.sock"
    assert found.service == Path("/run/x/redis.sock")
    one, two = (sessions({**env, "REDIS_URL": "redis://h/1", "BENCH_PORT": port}) for port in ("1", "2"))
    assert (one.caches["default"]["LOCATION"], one.service) == ("redis://h/1", None)
    assert one.caches["default"]["KEY_PREFIX"] != two.caches["default"]["KEY_PREFIX"]


def test_session_files_have_separate_folder(tmp_path):
    folder = Path(sessions({"SESSIONS": "file", "RUN_DIR": str(tmp_path)}).folder)
    assert (folder.is_dir(), folder.parent) == (True, tmp_path)


def test_server_awaits_only_own_datastore():
    env = {"SESSIONS": "datastore", "RUN_DIR": "/run/x"}
    assert sessions(env).service == Path("/run/x/datastore.http")
    assert sessions({**env, "DATASTORE_EMULATOR_HOST": "h:1"}).service is None


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        (
            {"SESSIONS": "memory"},
            "SESSIONS must be one of db, cached_db, redis, file, cookies, datastore, not 'memory'",
        ),
        ({"QUESTIONNAIRE_STATE_BYTES": "1023"}, "QUESTIONNAIRE_STATE_BYTES must be from 1024 to 65536, not '1023'"),
        ({"QUESTIONNAIRE_STATE_BYTES": "many"}, "QUESTIONNAIRE_STATE_BYTES must be from 1024 to 65536, not 'many'"),
        (
            {"SESSIONS": "cookies", "QUESTIONNAIRE_STATE_BYTES": "4096"},
            "must be from 1024 to 2048, not '4096', because browsers drop larger cookies",
        ),
    ],
)
def test_invalid_setting_is_reported(environ, says):
    with pytest.raises(ImproperlyConfigured, match=says):
        sessions(environ)


NEEDED = {"": (), "db": (), "file": (), "redis": ("redis",), "cached_db": ("redis",), "datastore": ("datastore",)}


@pytest.mark.parametrize("where", NEEDED)
def test_session_store_requires_its_service(monkeypatch, where):
    monkeypatch.delenv("SESSIONS", raising=False)
    assert services.required_by({"SESSIONS": where}) == NEEDED[where]
    monkeypatch.setenv("SESSIONS", where)
    assert services.required_by({}) == NEEDED[where]


def test_store_study_compares_equal_setups():
    entries = study.load("sessions").entries
    assert len(entries) == len(settings.ENGINES)
    assert all({**entry.env, "SESSIONS": ""} == {**entries[0].env, "SESSIONS": ""} for entry in entries)
    assert entries[0].env["QUESTIONNAIRE_STATE_BYTES"] == str(settings.MAX_IN_COOKIE)
