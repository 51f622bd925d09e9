"""Test that commands refuse an invalid knob with an error that shows the knob, its value and the valid values."""

import os

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.measure.prepare import RunOptions, prepare, resume
from loadtests.plan import study as studies
from tests.fixtures.studies import SMALL

WHOLE = "must be a whole number from 1 to 1024\n"
REDIS = "redis://HOST:PORT/NUMBER, rediss://HOST:PORT/NUMBER or unix:///PATH"
LOOPBACK = "a URL of this machine's loopback, without a path"
DATABASE = "sqlite:///FILE or postgresql://HOST/NAME"
# Invalid values for one knob of each type, with the valid values in the error. tests/docs checks that the
# documentation lists all knobs.
WRONG = [
    *(("WORKERS", value, WHOLE) for value in ("abc", "0", "1025", "\u0663", "010", "-1", "1" * 5000)),
    *(("BIND", value, "an IPv4 address of this machine") for value in ("::1", "192.0.2.1", "localhost")),
    ("PORT", "65536", "must be a port from 1 to 65535\n"),
    ("CORES", "0,four", "must be a list of cores, such as 0, 0-2 or 0,2"),
    ("CORES", "99999", "the allowed cores are "),
    ("KEEP_ALIVE", "5; reboot", "must be a whole number of seconds from 1 to 60\n"),
    ("ORIGIN_RECIPE", "slwo", "the name of an included recipe, or the absolute path of a valid recipe"),
    ("REDIS_URL", "localhost:6379", REDIS),
    ("MIDDLEWARES", "seven", "a value such as 0-sync, 7-async or usual+1-sync"),
    ("CONN_MAX_AGE", "forever", "a whole number of seconds from 0 to 604800, or none"),
    ("SESSIONS", "memory", "one of db, cached_db, redis, file, cookies, datastore"),
    ("FETCH_TIMEOUT", "1e9", "must be a number of seconds from 0.05 to 60\n"),
    ("ORIGIN_URL", "http://192.0.2.1:8100", LOOPBACK),
    ("DATABASE_URL", "mysql://127.0.0.1/x", DATABASE),
]


@pytest.fixture(autouse=True)
def nothing_can_be_started(monkeypatch):
    """Clear PATH and the knobs, so that no program can start."""
    monkeypatch.setenv("PATH", "")
    for name in (*setups.KNOBS, "DATABASE_URL"):
        monkeypatch.setenv(name, "")  # so that monkeypatch restores the variable after the test
        monkeypatch.delenv(name)


@pytest.mark.parametrize(("name", "value", "needed"), WRONG)
def test_invalid_knob_error_shows_valid_values(refused, monkeypatch, name, value, needed):
    monkeypatch.setenv(name, value)
    errors = refused("serve", "gunicorn")
    shown = value if value.isprintable() and len(value) <= 100 else value[:100]
    assert errors.startswith(f"error: {name}={shown}")
    assert needed in errors


@pytest.mark.parametrize("arguments", [("run", "first-look"), ("check",), ("profile", "gunicorn")])
def test_commands_check_knobs_first(command, monkeypatch, arguments):
    monkeypatch.setenv("WORKERS", "0")
    code, printed, errors = command(*arguments)
    assert (code, printed, errors) == (1, "", "error: WORKERS=0: must be a whole number from 1 to 1024\n")


@pytest.mark.parametrize(
    ("name", "url", "shown"),
    [
        ("DATABASE_URL", "mysql://me:secret@127.0.0.1/x", "mysql://...@127.0.0.1/x: "),
        ("REDIS_URL", ":secret@localhost", ""),
        ("REDIS_URL", "redis://me:sec/secret@localhost:x", ""),
        ("REDIS_URL", "http://h?password=secret", ""),
    ],
)
def test_password_in_invalid_url_is_hidden(refused, monkeypatch, name, url, shown):
    monkeypatch.setenv(name, url)
    errors = refused("serve", "gunicorn")
    assert f"{name}={shown}" in errors
    assert "sec" not in errors


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("postgresql://me:sec@r/et@/bench", "postgresql:///bench"),
        ("postgresql:///bench?password=secret&port=5433", "postgresql:///bench"),
        # the place of the password isn't clear
        ("postgresql://me:sec?ret@/bench", "postgresql://"),
        ("postgresql:///bench?password=sec@ret&port=5433", "postgresql://"),
    ],
)
def test_database_password_is_removed(monkeypatch, url, kept):
    monkeypatch.setenv("DATABASE_URL", url)
    assert setups.database() == kept


def test_users_project_accepts_other_values():
    env = {"DATABASE_URL": "mysql://127.0.0.1/x", "REDIS_URL": "127.0.0.1", "CONN_MAX_AGE": "None"}
    setups.require_knobs(env, own=True)
    with pytest.raises(UserError, match="WORKERS"):
        setups.require_knobs({**env, "WORKERS": "none"}, own=True)


@pytest.mark.parametrize(
    ("env", "says"),
    [
        ({"WORKERS": 0}, "s.toml: setups[1].env.WORKERS: must be a whole number from 1 to 1024, not '0'"),
        ({"THREADS": [1]}, "s.toml: setups[1].env[...]: must be a number or a text"),
        ({"A=B": "x"}, "s.toml: setups[1].env: contains an invalid name"),
    ],
)
def test_study_with_invalid_knobs_is_refused(env, says):
    with pytest.raises(UserError) as error:
        studies.parse({**SMALL, "setups": [{"setup": "gunicorn", "env": env}]}, "s", "s.toml")
    assert str(error.value).startswith(says)


def test_resumed_run_only_sets_known_variables(bench_of, tmp_path):
    run = prepare(studies.parse(SMALL, "s", "s.toml"), RunOptions(tmp_path / "run", 1), bench_of).run
    run.update(knobs={"WORKERS": "2", "LD_PRELOAD": "evil.so"})
    resume(run.path, bench_of)
    assert os.environ["WORKERS"] == "2"
    assert "LD_PRELOAD" not in os.environ
