import shutil
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def started(tmp_path_factory):
    """Return the folder of a project that ``startproject`` created. Tests must not change it."""
    folder = tmp_path_factory.mktemp("started") / "mysite"
    folder.mkdir()
    subprocess.run([sys.executable, "-m", "django", "startproject", "mysite", str(folder)], check=True)
    return folder


@pytest.fixture
def mysite(started, tmp_path_factory):
    """Return the folder of a copy of the project, which the test may change."""
    return shutil.copytree(started, tmp_path_factory.mktemp("own") / "mysite")


@pytest.fixture(autouse=True)
def no_active_environment(monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
