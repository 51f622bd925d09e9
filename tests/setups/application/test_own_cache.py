"""Test what happens if another user created the cache folder for users' projects."""

import os
import sys
from pathlib import Path

import pytest

from loadtests.errors import UserError
from loadtests.setups import environment
from loadtests.setups.application.project import Options, find


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "django-serving-benchmark"


def test_cache_of_another_user_is_refused(cache, mysite, monkeypatch):
    cache.mkdir()
    if os.getuid() == 0:
        os.chown(cache, 10_001, -1)
    monkeypatch.setattr(os, "getuid", lambda: 10_002)
    with pytest.raises(UserError, match="belongs to another user"):
        find(Options(mysite), [])


def test_environment_from_root_is_used(cache, monkeypatch):
    folder = environment._folder("servers", (), Path(sys.executable))
    folder.mkdir(parents=True)
    (folder / ".ready").touch()
    monkeypatch.setattr(environment, "opened_lock", None)  # only root can open the lock
    assert environment.created("servers", ()) == folder
