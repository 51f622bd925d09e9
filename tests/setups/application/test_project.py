"""Test how a user's project, its settings and its applications are found, and which errors are reported."""

import dataclasses
import sys
from pathlib import Path

import psutil
import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.setups.application import project
from loadtests.setups.application.project import Options, find, read_env_file
from loadtests.setups.variants import parse

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def untouched(started):
    """Return the result of find() for a new Django project, and whether the project's folder is unchanged."""
    before = sorted(started.rglob("*"))
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("DJANGO_SETTINGS_MODULE", raising=False)
        found = find(Options(started), [])
    return found, sorted(started.rglob("*")) == before


def fails(options):
    with pytest.raises(UserError) as error:
        find(options, [])
    message = str(error.value)
    assert "\n" not in message
    return message


def test_startproject_is_found_by_path(started, untouched):
    found, as_it_was = untouched
    assert as_it_was
    served = found.application
    assert served.directory == started
    assert (served.wsgi, served.asgi) == ("mysite.wsgi:application", "mysite.asgi:application")
    assert served.settings == "mysite.settings"
    assert served.bin == Path(sys.executable).parent
    assert served.healthy_within_s == 120
    assert served.own
    assert any("benchmark's own Python" in remark for remark in found.remarks)
    assert any("DEBUG is on" in remark for remark in found.remarks)


@pytest.mark.exhaustive
def test_project_without_asgi_uses_django_default(mysite):
    (mysite / "mysite" / "asgi.py").unlink()
    found = find(Options(mysite.parent), [])
    assert found.application.directory == mysite
    assert found.application.asgi == "plain_asgi:application"
    assert any("no ASGI application" in remark for remark in found.remarks)


@pytest.mark.exhaustive
def test_options_override_detected_values(mysite):
    (mysite / "mysite" / "other.py").write_text("from mysite.settings import *\nDEBUG = False\n")
    (mysite / "mysite" / "entry.py").write_text("def app(environ, start_response): ...\n")
    found = find(Options(mysite, wsgi="mysite.entry:app", settings="mysite.other", host="example.org"), [])
    served = found.application
    assert (served.wsgi, served.settings, served.host) == ("mysite.entry:app", "mysite.other", "example.org")
    assert not any("DEBUG" in remark for remark in found.remarks)


@pytest.mark.exhaustive
def test_env_file_overrides_manage_py(mysite, tmp_path):
    production = "from mysite.settings import *\nimport os\nDEBUG = os.environ['THE_DEBUG'] == 'yes'\n"
    (mysite / "mysite" / "production.py").write_text(production)
    assert "KeyError: 'THE_DEBUG'" in fails(Options(mysite, settings="mysite.production"))
    file = tmp_path / "env"
    file.write_text("THE_DEBUG=no\nDJANGO_SETTINGS_MODULE=mysite.production\n")
    found = find(Options(mysite, env_file=file), [])
    assert found.application.settings == "mysite.production"
    assert not found.facts["debug"]
    file.write_text("DEBUG=no\nRUN_DIR=4\nAPP_DIR=10\n")
    assert "APP_DIR, RUN_DIR would configure the servers" in fails(Options(mysite, env_file=file))


def test_env_file_may_use_shell_syntax(tmp_path):
    file = tmp_path / "env"
    file.write_text(
        '# of the site\n\nexport A=1\nB = \'two words\'\nC="x # y"\nD=plain # remark\nE=\nF="a b" # remark\n'
    )
    assert read_env_file(file) == {"A": "1", "B": "two words", "C": "x # y", "D": "plain", "E": "", "F": "a b"}
    file.write_text("A=1\nno equals sign\n")
    with pytest.raises(UserError, match=r"env: line 2 is not NAME=value"):
        read_env_file(file)
    with pytest.raises(UserError, match="No such file"):
        read_env_file(tmp_path / "nothing")


def test_wrong_option_is_a_clear_error(mysite, tmp_path):
    assert "is not a folder" in fails(Options(tmp_path / "nowhere"))
    assert "no manage.py" in fails(Options(tmp_path))
    for given, says in (
        ({"python": tmp_path / "nothing"}, "--python"),
        ({"wsgi": "mysite.wsgi"}, "write module:name"),
        ({"before": "python 'x"}, "No closing quotation"),
        ({"settings": "mysite.nothing"}, "No module named 'mysite.nothing'"),
        ({"asgi": "mysite.asgi:app"}, "has no attribute 'app'"),
    ):
        message = fails(Options(mysite, **given))
        assert says in message
        assert "another Python" not in message
    (mysite / "mysite" / "urls.py").write_text("import a_package_that_is_not_installed\n")
    (mysite / "mysite" / "wsgi.py").write_text("import mysite.urls\n")
    message = fails(Options(mysite))
    assert "No module named 'a_package_that_is_not_installed' (mysite/urls.py, line 1); if another Python" in message
    (mysite / "manage.py").write_text("")
    assert "doesn't set a settings module. Name the module with --settings" in fails(Options(mysite))


URLS = "from django.urls import path\ndef view(request): {}\nurlpatterns = [path('', view), {}]\n"


@pytest.mark.parametrize(
    ("urls", "said"),
    [
        pytest.param(URLS.format("return None", "'no path'"), "(urls.E004)", marks=pytest.mark.exhaustive),
        (URLS.format("1 / 0", ""), "ZeroDivisionError: division by zero"),
        (URLS.format("from django.http import HttpResponse as R; return R(status=503)", ""), "answers GET / with 503"),
    ],
)
def test_broken_project_fails_to_load(mysite, urls, said):
    (mysite / "mysite" / "urls.py").write_text(urls)
    assert said in fails(Options(mysite))


def test_record_restores_project_options(mysite, tmp_path):
    options = Options(mysite, python=tmp_path / "python", before="python manage.py migrate")
    assert Options.from_dict(options.to_dict()) == options
    assert (
        Options(mysite, ticket="POST /t/?api_key=s3cret .key").to_dict()["ticket"] == "POST /t/?api_key=REPLACED .key"
    )
    assert project.chosen(None, []).application.settings == "testproject.settings.base"


@pytest.mark.exhaustive
def test_variant_serves_other_checkout(mysite, started):
    (mysite / "mysite" / "asgi.py").unlink()
    [_, other] = served_by = setups.find(["uvicorn"], [parse(str(mysite))])
    both = other.with_variants([parse("hopless")])
    found = project.chosen(Options(started), [*served_by, both])
    served = found.application
    assert (other.group, served.environment_for(other)["APP_DIR"]) == ("uvicorn", str(mysite))
    assert served.environment_for(both)["SERVED_WITH_HOPLESS"] == "plain_asgi:application"
    assert served.environment_for(served_by[0])["APP_DIR"] == str(started)
    assert served.obstacle(other) is None
    assert any(remark.startswith(f"{mysite}: the project has no ASGI application") for remark in found.remarks)
    assert found.environments[other.variant]["packages"] == found.facts["packages"]


def test_unavailable_setup_has_a_reason(untouched):
    application = untouched[0].application
    [layer, websocket, peer, plain] = setups.find(["daphne-ipc", "uvicorn-channels", "ws", "gunicorn"])
    assert "channel layer" in application.obstacle(layer)
    assert "WebSockets of the sample project" in application.obstacle(websocket)
    assert application.obstacle(peer) == application.obstacle(websocket)
    assert application.obstacle(plain) is None


def test_failed_setup_command_is_reported(untouched):
    def prepare(*words):
        dataclasses.replace(untouched[0].application, before=words).prepare()

    with pytest.raises(UserError, match=r"failed \(exit status 1\): the database is down"):
        prepare("python", "-c", "raise SystemExit('the database is down')")
    with pytest.raises(UserError, match=r"'no-such-command' failed .* can't be run: No such file"):
        prepare("no-such-command")


HOSTILE = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open({file!r}, "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
while not os.path.exists({file!r}) or not open({file!r}).read():
    time.sleep(0.01)
"""


@pytest.fixture
def daemon(tmp_path):
    """Provide code that starts a process in a separate session. The process ignores SIGTERM and doesn't end.

    ``left`` shows whether the process still runs.
    """

    class Daemon:
        file = tmp_path / "pid"
        code = HOSTILE.format(file=str(file))

        @property
        def left(self):
            return psutil.pid_exists(int(self.file.read_text()))

    return Daemon()


def test_loading_leaves_no_process(mysite, daemon):
    settings = mysite / "mysite" / "settings.py"
    settings.write_text(settings.read_text() + daemon.code)
    assert find(Options(mysite), []).application.own
    assert not daemon.left


def test_hanging_project_error_names_limit(mysite, daemon, tmp_path, monkeypatch):
    monkeypatch.setattr(project, "LOADS_WITHIN_S", 2.0)
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n(setsid sh -c 'trap \"\" TERM; echo $$ > {daemon.file}; sleep 600' &)\nsleep 600\n")
    python.chmod(0o755)
    assert fails(Options(mysite, python=python)) == f"{mysite}: the project did not load within 2 s"
    assert not daemon.left


@pytest.mark.exhaustive
def test_setup_command_leaves_no_process(mysite, daemon):
    (mysite / "first.py").write_text(daemon.code)
    find(Options(mysite, before="python first.py"), []).application.prepare()
    assert not daemon.left
