"""Users of a project of one's own, who sign in: with a form, with a cookie, and not where that is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers]

PASSWORD = "hunter2-of-ada-é"
LONG_S = 300  # on a machine that does much else, where a trial is made twice
JOURNEY = """
import uuid

from loadtests.journeys.base import Journey
from loadtests.journeys.forms import leads_to, tokens
from loadtests.journeys.steps import BrokenOff


class Groups(Journey):
    path = "/admin/"

    def walk(self):
        page = self.get("/admin/auth/group/add/", "add")
        self.think()
        name = uuid.uuid4().hex
        sent = self.post(
            "/admin/auth/group/add/", "add", {**tokens(page), "name": name, "_continue": "1"},
            check=leads_to("/admin/auth/group/{id}/change/"),
        )
        self.get(sent.location, "change", check=lambda page: None if name in page.text else BrokenOff("mixed-up", name))
        self.get("/environment/", "environment", check=lambda page: None if page.text == "none" else BrokenOff(
            "wrong-body", page.text))
"""
STUDY = """
setups = ["gunicorn"]
blocks = 1
[tests.users]
kind = "journey"
users = 2
think = ["10ms", "20ms"]
warmup = "500ms"
duration = "2s"
"""
URLS = """
import os
from django.contrib import admin
from django.http import HttpResponse
from django.urls import path

def environment(request):
    return HttpResponse(",".join(name for name in os.environ if name.startswith("JOURNEY_")) or "none")

urlpatterns = [path("admin/", admin.site.urls), path("environment/", environment)]
"""
MAKE = """
import django
django.setup()
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
ada = User.objects.create_superuser("ada", password={password!r})
store = SessionStore()
store[SESSION_KEY], store[HASH_SESSION_KEY] = str(ada.pk), ada.get_session_auth_hash()
store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
store.save()
print(store.session_key)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of a project with an admin, in which ada may do everything; and the key of a session of hers."""
    folder = tmp_path_factory.mktemp("admin") / "mysite"
    folder.mkdir()
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "mysite.settings"}

    def python(*arguments):
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, text=True).stdout

    subprocess.run([sys.executable, "-m", "django", "startproject", "mysite", str(folder)], check=True)
    (folder / "mysite" / "urls.py").write_text(URLS)
    with (folder / "mysite" / "settings.py").open("a") as settings:
        settings.write("PASSWORD_HASHERS = ['django.contrib.auth.hashers.MD5PasswordHasher']\n")  # which is quick
    python("manage.py", "migrate", "-v0")
    return folder, python("-c", MAKE.format(password=PASSWORD)).strip()


@pytest.fixture
def files(tmp_path):
    """A journey and a study."""
    journey, study = tmp_path / "groups.py", tmp_path / "small.toml"
    journey.write_text(JOURNEY)
    study.write_text(STUDY)
    return study, journey


def everything(folder):
    return "".join(file.read_text(errors="replace") for file in Path(folder).rglob("*") if file.is_file())


def measured(folder, said):
    """The trial, or its first attempt: a machine that does much else makes it invalid, and changes nothing that is
    asked here."""
    found = [json.loads(file.read_text()) for file in sorted((folder / "trials").glob("*.json"))]
    assert found, said
    assert found[0]["result"], (found[0]["log"], found[0]["flags"])
    return found[0]


def test_users_sign_in_with_a_form_and_their_password_stands_nowhere(cli, site, files, tmp_path):
    study, journey = files
    folder = tmp_path / "run"
    cli.env["JOURNEY_PASSWORD"] = PASSWORD
    own = ("--app", site[0], "--journey", journey, "--login", "/admin/login/?next=/admin/", "--login-user", "ada")
    _, printed, errors = cli.run("run", study, *own, "--output", folder, timeout=LONG_S)
    trial = measured(folder, printed + errors)
    assert trial["result"]["examples"] == {}
    names = [one["name"] for one in trial["result"]["requests"]]
    assert names == ["GET sign-in", "POST sign-in", "GET add", "POST add", "GET change", "GET environment"]
    assert all(one["ok"] > 0 for one in trial["result"]["requests"])
    assert trial["result"]["journeys"]["completed"] > 0
    record = json.loads((folder / "run.json").read_text())
    assert record["study"]["tests"][0]["sign_in"] == {"login": "/admin/login/?next=/admin/", "user": "ada"}
    assert [one["status"] for one in record["contract"]["users"]] == [200]  # the admin, which is shown to ada alone
    assert "hunter2" not in everything(folder) + printed + errors
    cli.wait_until_nothing_runs()


def test_users_are_signed_in_by_a_cookie(cli, site, files, tmp_path):
    study, journey = files
    folder = tmp_path / "run"
    cli.env["JOURNEY_COOKIE"] = f"theme=dark; sessionid={site[1]}"
    _, printed, errors = cli.run(
        "run", study, "--app", site[0], "--journey", journey, "--output", folder, timeout=LONG_S
    )
    trial = measured(folder, printed + errors)
    assert trial["result"]["examples"] == {}
    assert trial["result"]["requests"][0]["name"] == "GET add"
    assert site[1] not in everything(folder) + printed + errors
    cli.wait_until_nothing_runs()


LOGIN = ("--login", "/admin/login/", "--login-user", "ada")


@pytest.mark.parametrize(
    ("arguments", "env", "says"),
    [
        (
            LOGIN,
            {"JOURNEY_PASSWORD": "hunter3"},
            "test users: users cannot sign in: POST /admin/login/: ada was refused",
        ),
        ((), {"JOURNEY_COOKIE": "sessionid=hunter3"}, "test users: GET /admin/: answered 302"),
        (LOGIN, {}, "test users: users are to sign in: set JOURNEY_PASSWORD to the password of ada"),
    ],
)
def test_a_sign_in_that_is_refused_is_one_line_before_anything_is_written(
    command, monkeypatch, site, files, tmp_path, nothing_is_left, arguments, env, says
):
    study, journey = files
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "run"
    code, printed, errors = command(
        "run", study, "--app", site[0], "--journey", journey, "--output", folder, *arguments
    )
    assert code == 1
    assert says in errors
    assert len(errors.strip().splitlines()) == 1
    assert "hunter" not in printed + errors
    assert not folder.exists()
