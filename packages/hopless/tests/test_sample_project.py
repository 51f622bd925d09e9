"""Test that hopless and Django's own application give the same answers in the benchmark's sample project.

The requests cover the endpoints of the sample project, the complete questionnaire, and Django's admin. In the admin, a
user logs in, and changes and deletes objects.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(__file__).with_name("sample_answers.py")
PARTS = ("1", "whole", "threads", "middleware")

# django_suite.py also runs the tests with other versions of Django, in environments that have only this package's
# requirements.
pytest.importorskip("whitenoise", reason="the requirements of the sample project aren't installed")


def python(*arguments, folder, **env):
    path = os.pathsep.join(map(str, (folder, ROOT / "testproject", ROOT)))
    env = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", **env}
    ended = subprocess.run([sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """Create the projects and fill their databases. Return each project's folder and settings, by group of requests."""
    folder = tmp_path_factory.mktemp("sample")
    sample = {"DJANGO_SETTINGS_MODULE": "testproject.settings.base", "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3"}
    python(ROOT / "testproject" / "manage.py", "prepare", folder=folder, **sample)
    site = tmp_path_factory.mktemp("site")
    python("-m", "django", "startproject", "mysite", ".", folder=site, DJANGO_SETTINGS_MODULE="")
    own = {"DJANGO_SETTINGS_MODULE": "mysite.settings"}
    python("manage.py", "migrate", "-v0", folder=site, **own)
    user = {"DJANGO_SUPERUSER_PASSWORD": "difference", "DJANGO_SUPERUSER_EMAIL": "ada@example.org"}
    python("manage.py", "createsuperuser", "--noinput", "--username", "ada", folder=site, **own, **user)
    return {"endpoints": (folder, sample), "questionnaire": (folder, sample), "admin": (site, own)}


@pytest.fixture(scope="module")
def answers(projects, tmp_path_factory):
    """Return a function that returns the answers with a part of hopless, or without hopless.

    The function runs in a copy of the project's folder.
    """

    @functools.cache
    def ask(what, part):
        folder, env = projects[what]
        copy = shutil.copytree(folder, tmp_path_factory.mktemp(what) / "copy")
        env = {name: value.replace(str(folder), str(copy)) for name, value in env.items()}
        return json.loads(python(PROGRAM, what, folder=copy, **env, HOPLESS=part))

    return ask


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(("what", "least"), [("endpoints", 25), ("questionnaire", 4), ("admin", 27)])
def test_hopless_answers_like_django(answers, what, least, part):
    wanted, found = answers(what, ""), answers(what, part)
    assert len(wanted) >= least
    assert len(found) == len(wanted)
    assert [pair for pair in zip(wanted, found, strict=True) if pair[0] != pair[1]] == []
