"""Test small projects with the peculiarities of real projects."""

import socket

import pytest

from loadtests import setups
from loadtests.errors import UserError
from loadtests.setups.application.project import Options, find
from loadtests.setups.variants import parse
from tests.fixtures.exhaustive import exhaustive_but

pytestmark = pytest.mark.slow

# As with python-decouple or django-environ, manage.py reads variables from a file. It also adds src/ to sys.path.
FROM_A_FILE = """
from pathlib import Path
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "src"))
for line in (HERE / ".env").read_text().split():
    os.environ.setdefault(*line.split("=", 1))
"""
PRODUCTION = {"src/site1/prod.py": "from site1.settings import *\nWHICH = 'prod'\n"}
# Imitate django-configurations: settings are classes, and the entry points install an importer for them.
CONFIGURATIONS = {
    "configurations/__init__.py": "",
    "configurations/importer.py": """
        import importlib, os, sys
        from django.core.exceptions import ImproperlyConfigured
        ready = []
        def install():
            if ready:
                return
            ready.append(True)
            module = importlib.import_module(os.environ["DJANGO_SETTINGS_MODULE"])
            chosen = getattr(module, os.environ["DJANGO_CONFIGURATION"])
            vars(module).update({name: getattr(chosen, name) for name in dir(chosen) if name.isupper()})
            module.CONFIGURATION = f"{module.__name__}.{chosen.__name__}"
        """,
}
CLASSES = """
class Dev:
    WHICH = "dev"
class Prod:
    WHICH = "prod"
"""


def installed(interface, name):
    return f"""
import os
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site1.settings")
os.environ.setdefault("DJANGO_CONFIGURATION", "{name}")
from configurations import importer
importer.install()
from django.core.{interface} import get_{interface}_application
application = get_{interface}_application()
"""


def fails(*arguments, **options):
    with pytest.raises(UserError) as error:
        find(Options(*arguments, **options), [])
    assert "\n" not in str(error.value)
    return str(error.value)


def test_exported_settings_are_used(small, monkeypatch):
    folder = small(named="", src="src/", manage=FROM_A_FILE, files={**PRODUCTION, ".env": ""})
    assert "manage.py doesn't set a settings module. Name the module with --settings" in fails(folder)
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "site1.prod")
    found = find(Options(folder), [])
    assert found.facts["settings"] == found.application.environment["DJANGO_SETTINGS_MODULE"] == "site1.prod"
    assert found.remarks[0] == "the settings are site1.prod"
    assert found.application.asgi == "site1.asgi:application"
    assert found.application.environment["PYTHONPATH"].startswith(f"{folder}/src")


@pytest.mark.exhaustive
def test_entry_point_without_setup_is_refused(small):
    routing = "from django.contrib.auth.models import User\napplication = None\n"
    named = 'ASGI_APPLICATION = "site1.routing.application"\n'
    folder = small(settings=named, files={"site1/routing.py": routing})
    says = "site1.routing doesn't call django.setup(), so a server can't import it. Pass the entry point with --asgi"
    assert says in fails(folder)
    assert find(Options(folder), setups.find(["gunicorn"])).application.wsgi  # which needs no ASGI application


@pytest.mark.parametrize("interface", exhaustive_but(("asgi",), ["wsgi", "asgi"]))
def test_named_entry_point_is_kept(small, interface):
    named = f'{interface.upper()}_APPLICATION = "site1.{interface}_prod.application"\n'
    folder = small(settings=named, files={f"site1/{interface}_prod.py": f"from site1.{interface} import application\n"})
    application = find(Options(folder), []).application
    assert getattr(application, interface) == f"site1.{interface}_prod:application"


@pytest.mark.exhaustive
def test_command_must_start_near_the_project(small, tmp_path):
    (tmp_path / "Procfile").write_text("web: gunicorn site1.wsgi\n")
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "Procfile").write_text("web: gunicorn site1.wsgi\n")
    folder = small()
    find(Options(folder), [], variants=[parse(str(tmp_path / "Procfile"))])
    (folder / "Procfile").write_text("web: gunicorn site1.wsgi\n")
    find(Options(folder), [], variants=[parse(str(folder / "Procfile"))])
    with pytest.raises(UserError, match=rf"its command starts in its folder. Move the file to {folder}, or above it"):
        find(Options(folder), [], variants=[parse(str(tmp_path / "away" / "Procfile"))])


@pytest.mark.exhaustive
def test_manage_py_may_read_settings_file(small):
    file = "DJANGO_SETTINGS_MODULE=site1.prod\nTOKEN=x\n"
    folder = small(named="", src="src/", manage=FROM_A_FILE, files={**PRODUCTION, ".env": file})
    found = find(Options(folder), [])
    assert found.facts["settings"] == "site1.prod"
    assert found.application.environment["TOKEN"] == "x"


def test_settings_classes_are_supported(small):
    entries = {f"site1/{one}.py": installed(one, "Prod") for one in ("wsgi", "asgi")}
    line = f"{NAMED_CLASS}; from configurations import importer; importer.install()"
    folder = small(settings=CLASSES, named=line, files={**CONFIGURATIONS, **entries})
    found = find(Options(folder), [])
    other = "asgi.py names site1.settings.Prod and wsgi.py names site1.settings.Prod"
    assert found.remarks[0] == f"the settings are site1.settings.Dev, but {other}"
    assert found.application.environment["DJANGO_CONFIGURATION"] == "Dev"


NAMED_CLASS = (
    'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "{}"); os.environ.setdefault("DJANGO_CONFIGURATION", "Dev")'
)


@pytest.mark.exhaustive
def test_entry_point_next_to_manage_works(small):
    top = {"settings.py": 'from site1.settings import *\nROOT_URLCONF = "urls"\nWSGI_APPLICATION = None\n'}
    top |= {"urls.py": "from site1.urls import *\n", "wsgi.py": "from site1.wsgi import *\n", "__init__.py": ""}
    found = find(Options(small(files=top), settings="settings"), [])
    assert found.application.wsgi == "wsgi:application"
    assert found.application.asgi == "plain_asgi:application"


@pytest.mark.exhaustive
def test_endless_thread_is_tolerated(small):
    code = "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()"
    assert find(Options(small(code=code)), []).application.own


@pytest.mark.exhaustive
def test_port_opened_at_import_is_named(small):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = 20_000 + free.getsockname()[1] % 10_000  # the kernel chooses no such port itself
    found = find(Options(small(settings=f"import socket\nOPENED = socket.create_server(('127.0.0.1', {port}))\n")), [])
    assert f"the project itself opens port {port}, so its setups can't run side by side" in found.remarks
    assert found.application.alone


def test_failing_page_is_named(small):
    folder = small(
        views='path("ok/", lambda request: HttpResponse(request.headers["Host"])), '
        'path("bad/", lambda request: {}["absent"]), '
    )
    assert find(Options(folder), [], page="/ok/").application.own
    with pytest.raises(
        UserError, match=r"does not answer GET /bad/: KeyError: 'absent' \(site1/urls.py, line \d+\)\. Name a page"
    ):
        find(Options(folder), [], page="/bad/")


MODEL = {
    "shop/__init__.py": "",
    "shop/models.py": "from django.db import models\nclass Thing(models.Model): pass\n",
    "shop/migrations/__init__.py": "",
    "shop/migrations/0001_initial.py": (
        "from django.db import migrations, models\nclass Migration(migrations.Migration):\n"
        "    operations = [migrations.CreateModel('Thing', [('id', models.BigAutoField(primary_key=True))])]\n"
    ),
}


def test_unapplied_migrations_are_counted(small):
    things = 'path("things/", lambda request: HttpResponse(__import__("shop.models").models.Thing.objects.count())), '
    folder = small(settings='INSTALLED_APPS = ["shop"]\n', views=things, files=MODEL)
    assert find(Options(folder), []).remarks[-1] == (
        "1 migration is not applied. Apply migrations with --setup-command 'python manage.py migrate'"
    )
    assert not (folder / "db.sqlite3").exists()
    with pytest.raises(UserError, match="no such table: shop_thing; 1 migration is not applied"):
        find(Options(folder), [], page="/things/")


def test_exiting_project_shows_its_message(small):
    code = "print('PAYMENT_KEY is missing', file=__import__('sys').stderr); raise SystemExit(3)"
    assert fails(small(code=code)).endswith("PAYMENT_KEY is missing")
