"""Test the command ``manage.py prepare``."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from endpoints.models import Fortune, World

from tests.fixtures.databases import used_database

pytestmark = pytest.mark.slow

MANAGE = Path(__file__).resolve().parent.parent.parent / "testproject" / "manage.py"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=[pytest.mark.servers, pytest.mark.exhaustive])])
def url(request, tmp_path):
    """Return the URL of an empty database."""
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


def outcome(process):
    """Wait for a process, and return its exit code, output and errors."""
    printed, errors = process.communicate(timeout=60)
    return process.returncode, printed, errors


def counts(url):
    with used_database(url):
        return World.objects.count(), Fortune.objects.count()


def test_prepare_fills_the_database_once(url):
    code, printed, errors = outcome(start(url))
    assert (code, errors, printed.count("\n")) == (0, "", 1)
    assert printed.startswith("ready: ")
    assert counts(url) == (10_000, 12)
    before = os.times().children_user
    assert outcome(start(url)) == (0, printed, "")
    assert os.times().children_user - before < 3  # CPU time in seconds, which is usually about 0.3


@pytest.mark.exhaustive
def test_processes_can_prepare_concurrently(url):
    processes = [start(url) for _ in range(4)]
    for process in processes:
        assert outcome(process)[::2] == (0, "")
    assert counts(url) == (10_000, 12)


def test_incomplete_tables_are_completed(database):
    World.objects.filter(id__gt=100).delete()
    Fortune.objects.filter(id=3).update(message="other")
    call_command("prepare", stdout=io.StringIO())
    assert set(World.objects.values_list("id", flat=True)) == set(range(1, 10_001))
    assert not Fortune.objects.filter(message="other").exists()
    if database == "sqlite":
        with connection.cursor() as cursor:
            assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("postgresql://me:secret@127.0.0.1:1/bench", "Connection refused"),
        pytest.param("postgresql://me@/bench?host=/nowhere", "No such file", marks=pytest.mark.exhaustive),
        ("sqlite:////nowhere/x.sqlite3", "unable to open"),
        pytest.param("sqlite:////dev", "unable to open", marks=pytest.mark.exhaustive),
        ("mysql://localhost/x", "must start with sqlite:///FILE or postgresql://"),
    ],
)
def test_unavailable_database_is_reported(url, word):
    code, printed, errors = outcome(start(url))
    assert (code, printed, errors.count("\n")) == (1, "", 1)
    assert word in errors
    assert "secret" not in errors
