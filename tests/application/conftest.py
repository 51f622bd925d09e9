import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def startproject(tmp_path_factory):
    """Makes a project as Django does, and returns its folder."""

    def make(name="mysite"):
        folder = tmp_path_factory.mktemp("own") / name
        folder.mkdir()
        subprocess.run([sys.executable, "-m", "django", "startproject", name, str(folder)], check=True)
        return folder

    return make


@pytest.fixture
def mysite(startproject):
    return startproject()


@pytest.fixture(autouse=True)
def no_active_environment(monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
