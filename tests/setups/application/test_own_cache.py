"""Test what happens if another user created the cache folder for users' projects."""

import os
import sys
from pathlib import Path

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.setups import environment
from loadtests.setups.application import overlay
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


def test_linked_lock_is_refused(cache, monkeypatch, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("kept")
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(Path(sys.executable).resolve())
    (cache / "overlays").mkdir(parents=True)

    class Name:
        def hexdigest(self):
            return "0123456789abcdef"

    monkeypatch.setattr(overlay.hashlib, "sha256", lambda content: Name())
    (cache / "overlays" / "0123456789abcdef.lock").symlink_to(victim)
    with pytest.raises(UserError, match="lock cannot be opened"):
        overlay.make(python, setups.find(["waitress"]))
    assert victim.read_text() == "kept"
