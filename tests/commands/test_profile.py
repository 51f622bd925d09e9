"""Test the command ``profile``."""

import json
import sys

import pytest

from loadtests import files

pytestmark = pytest.mark.exhaustive

# A project that uses 30% of the CPU time in its view, and 70% in its template.
PROJECT = """
import functools
import time
from django.http import HttpResponse
from django.template import Context, Template
from django.urls import path

SECRET_KEY = "x"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "known_shares"
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates"}]
USE_TZ = True
PAGE = "{% for row in rows %}{{ row|stringformat:'05d' }}{% endfor %}"

@functools.cache
def template():
    return Template(PAGE)

def page(request):
    begun = time.thread_time()
    html = template().render(Context({"rows": range(1000)}))
    spent = time.thread_time() - begun
    end = time.thread_time() + spent * 3 / 7
    while time.thread_time() < end:
        sum(range(100))
    return HttpResponse(html)

urlpatterns = [path("", page)]
"""
WSGI = """
import os
from django.core.wsgi import get_wsgi_application
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "known_shares")
application = get_wsgi_application()
"""


@pytest.mark.servers
@pytest.mark.parametrize("setup", ["gunicorn", "uvicorn"])
def test_profile_reports_known_cpu_shares(command, setup, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "RESULTS", tmp_path / "results")
    project = tmp_path / "site"
    project.mkdir()
    (project / "manage.py").touch()
    (project / "known_shares.py").write_text(PROJECT)
    (project / "entry.py").write_text(WSGI)
    own = ["--app", project, "--settings", "known_shares", "--wsgi", "entry:application"]
    own += ["--python", sys.executable]
    code, _, errors = command("profile", setup, *own, "--duration", "12s")
    assert code == 0, errors
    [folder] = (tmp_path / "results").iterdir()
    about = json.loads((folder / "profile.json").read_text())
    [web] = about["roles"]
    found = {share["category"]: share["share"] for share in web["shares"]}
    assert 0.5 < found["template"] / (found["template"] + found["view"]) < 0.87
    assert found["template"] + found["view"] > 0.5
    assert web["cpu_us_per_request"] > 0
    # A few samples may be in asgiref, because Django also uses asgiref's context variables under WSGI.
    assert "thread hops" in found if setup == "uvicorn" else found.get("thread hops", 0.0) < 0.04
    text = (folder / "cpu.speedscope.json").read_text()
    assert '"known_shares.py"' in text
    assert str(project) not in text


@pytest.mark.servers
def test_missing_path_leaves_no_profile(cli):
    code, _, errors = cli.run("profile", "gunicorn", "--path", "/nowhere", "--duration", "200ms")
    assert code == 1
    assert "no answer to /nowhere had status 200" in errors
    assert errors.count("\n") == 1
    cli.wait_until_nothing_runs()
