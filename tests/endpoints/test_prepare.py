"""`manage.py prepare`, as a person or the harness runs it."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

MANAGE = Path(__file__).resolve().parent.parent.parent / "testproject" / "manage.py"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=[pytest.mark.servers, pytest.mark.exhaustive])])
def url(request, tmp_path):
    """An empty database's URL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/some.sqlite3"
    name = "prepare_" + "".join(letter if letter.isalnum() else "_" for letter in tmp_path.name.lower())
    return request.getfixturevalue("new_postgresql")(name)


def start(url):
    return subprocess.Popen(
        [sys.executable, MANAGE, "prepare"],
        env={**os.environ, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def prepare(url):
    process = start(url)
    printed, errors = process.communicate(timeout=60)
    return process.returncode, printed, errors


def counts(url):
    ask = "django.setup(); from endpoints.models import *; print(World.objects.count(), Fortune.objects.count())"
    return subprocess.run(
        [sys.executable, "-c", f"import django; {ask}"],
        cwd=MANAGE.parent,
        env={**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "testproject.settings.base"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


def test_it_migrates_and_fills_says_so_in_a_line_and_has_little_to_do_a_second_time(url):
    code, printed, errors = prepare(url)
    assert (code, errors, printed.count("\n")) == (0, "", 1)
    assert printed.startswith("ready: ")
    assert counts(url) == ["10000", "12"]
    before = os.times().children_user
    code, _, errors = prepare(url)
    assert (code, errors) == (0, "")
    assert os.times().children_user - before < 3  # seconds of CPU: it takes a third of one


def test_four_may_run_at_once(url):
    processes = [start(url) for _ in range(4)]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
    assert counts(url) == ["10000", "12"]


def test_what_was_left_half_filled_is_filled(tmp_path):
    file = tmp_path / "half.sqlite3"
    prepare(f"sqlite:///{file}")
    with sqlite3.connect(file) as connection:
        connection.execute("DELETE FROM world WHERE id > 100")
        connection.execute("UPDATE fortune SET message = 'other' WHERE id = 3")
    connection.close()
    assert prepare(f"sqlite:///{file}")[0] == 0
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT count(*), min(id), max(id) FROM world").fetchone() == (10_000, 1, 10_000)
        assert connection.execute("SELECT count(*) FROM fortune WHERE message = 'other'").fetchone() == (0,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("postgresql://me:secret@127.0.0.1:1/bench", "Connection refused"),
        ("postgresql://me@/bench?host=/nowhere", "No such file"),
        ("sqlite:////nowhere/x.sqlite3", "unable to open"),
        ("sqlite:////dev", "unable to open"),
        ("mysql://localhost/x", "sqlite:///FILE and postgresql:// are allowed"),
    ],
)
def test_a_database_that_cannot_be_had_is_one_line(url, word):
    code, printed, errors = prepare(url)
    assert code == 1
    assert printed == ""
    assert errors.count("\n") == 1
    assert word in errors
    assert "secret" not in errors
