"""Test logins to a user's project: with a form, with a cookie, and refused logins."""

import json
import os
import shutil
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.exhaustive, pytest.mark.servers]

PASSWORD = "hunter2-of-ada-é"
LONG_S = 300  # long enough for a repeated trial on a busy machine
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
PRODUCTION = """
from mysite.settings import *
DEBUG = False
ALLOWED_HOSTS = ["shop.example"]
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
CSRF_TRUSTED_ORIGINS = ["https://shop.example"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
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
def site(started, tmp_path_factory):
    """Return the folder of a project with Django's admin, in which ada has all rights, and the key of ada's session."""
    folder = shutil.copytree(started, tmp_path_factory.mktemp("admin") / "mysite")
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "mysite.settings"}

    def python(*arguments):
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, text=True).stdout

    (folder / "mysite" / "urls.py").write_text(URLS)
    (folder / "mysite" / "production.py").write_text(PRODUCTION)
    with (folder / "mysite" / "settings.py").open("a") as settings:
        settings.write("PASSWORD_HASHERS = ['django.contrib.auth.hashers.MD5PasswordHasher']\n")  # a fast one
    python("manage.py", "migrate", "-v0")
    return folder, python("-c", MAKE.format(password=PASSWORD)).strip()


@pytest.fixture
def run(site, tmp_path):
    """Return the command that measures a journey through this project."""
    journey, study = tmp_path / "groups.py", tmp_path / "small.toml"
    journey.write_text(JOURNEY)
    study.write_text(STUDY)
    return "run", study, "--app", site[0], "--journey", journey, "--output", tmp_path / "run"


def signed_in(cli, run, *secrets):
    """Return the trial's first attempt, and the content of run.json. Check that the users logged in.

    The run folder must contain no secrets. A busy machine can make the attempt invalid.
    """
    _, printed, errors = cli.run(*run, timeout=LONG_S)
    folder = run[run.index("--output") + 1]
    trial = json.loads(min((folder / "trials").glob("*.json")).read_text())
    assert trial["result"], (trial["log"], trial["flags"])
    assert trial["result"]["examples"] == {}
    kept = "".join(file.read_text(errors="replace") for file in folder.rglob("*") if file.is_file())
    assert not any(secret in kept + printed + errors for secret in secrets)
    cli.wait_until_nothing_runs()
    return trial["result"], json.loads((folder / "run.json").read_text())


def test_form_login_stores_no_password(cli, run):
    cli.env["JOURNEY_PASSWORD"] = PASSWORD
    own = ("--login", "/admin/login/?next=/admin/", "--login-user", "ada")
    result, record = signed_in(cli, (*run, *own), "hunter2")
    names = [one["name"] for one in result["requests"]]
    assert names == ["GET sign-in", "POST sign-in", "GET add", "POST add", "GET change", "GET environment"]
    assert all(one["ok"] > 0 for one in result["requests"])
    assert result["journeys"]["completed"] > 0
    who = {"login": "/admin/login/?next=/admin/", "user": "ada", "file": "", "users": 1}
    assert record["study"]["tests"][0]["sign_in"] == who
    assert [one["status"] for one in record["contract"]["users"]] == [200]  # the admin page, which only ada can see


def test_accounts_log_in_for_check(command, site, tmp_path):
    accounts = tmp_path / "users.csv"
    accounts.write_text(f"ada,{PASSWORD}\n")
    checked = ("check", "gunicorn", "uvicorn", "--app", site[0], "--path", "/admin/", "--login", "/admin/login/")
    code, printed, errors = command(*checked, "--login-accounts", accounts)
    assert (code, "1 request to each of 2 setups: 0 differences" in printed) == (0, True), printed + errors
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("ada,hunter3\n")
    code, printed, errors = command(*checked, "--login-accounts", wrong)
    assert (code, "gunicorn: users can't log in: POST /admin/login/: ada was refused" in errors) == (1, True)
    assert "hunter" not in printed + errors


def test_cookie_logs_users_in(cli, run, site):
    cli.env["JOURNEY_COOKIE"] = f"theme=dark; sessionid={site[1]}"
    result, _ = signed_in(cli, run, site[1])
    assert result["requests"][0]["name"] == "GET add"


LOGIN = ("--login", "/admin/login/", "--login-user", "ada")
DEPLOYED = (*LOGIN, "--settings", "mysite.production", "--host-header", "shop.example")


def test_production_settings_work_unchanged(cli, run):
    cli.env["JOURNEY_PASSWORD"] = PASSWORD
    result, _ = signed_in(cli, (*run, *DEPLOYED, "--header", "X-Forwarded-Proto: https"), "hunter2")
    assert result["journeys"]["completed"] > 0


@pytest.mark.parametrize(
    ("arguments", "env", "says"),
    [
        (LOGIN, {"JOURNEY_PASSWORD": "hunter3"}, "users can't log in: POST /admin/login/: ada was refused"),
        (DEPLOYED, {"JOURNEY_PASSWORD": "hunter3"}, "users can't log in: GET /admin/login/: answered 301 instead of"),
        ((), {"JOURNEY_COOKIE": "sessionid=hunter3"}, "GET /admin/: answered 302"),
    ],
)
def test_refused_login_is_reported_early(command, monkeypatch, run, tmp_path, nothing_is_left, arguments, env, says):
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    code, printed, errors = command(*run, *arguments)
    assert (code, len(errors.strip().splitlines())) == (1, 1)
    assert f"test users: {says}" in errors
    assert "hunter" not in printed + errors
    assert not (tmp_path / "run").exists()
