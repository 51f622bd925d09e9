"""Test that hopless returns Django's application and logs a warning if Django or asgiref lacks a private name."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import hopless
import pytest
from hopless import private

PACKAGE = Path(hopless.__file__).parent
EVERY = [
    *private.NAMES,
    *(f"{path}.{name}" for path, name in private.ATTRIBUTES),
    *(f"{path}({name})" for path, name in private.PARAMETERS.items()),
]
# Remove a name before hopless is imported, and print what hopless returns. Django also needs the name, so a string
# replaces Django's handler.
WITHOUT = """
import json, logging, pkgutil, sys
from django.apps import apps
from django.conf import settings
from django.core import asgi
from django.core.management import call_command
from django.middleware.security import SecurityMiddleware
from django.utils import connection, translation

def take_away(path):
    module, _, rest = path.partition(":")
    owner, _, name = rest.rpartition(".")
    owner = pkgutil.resolve_name(f"{module}:{owner}" if owner else module)
    having = [one for one in getattr(owner, "__mro__", [owner]) if name in vars(one)]
    if name.endswith(")"):
        setattr(owner, name.partition("(")[0], lambda self: [])
    elif having:
        for one in having:
            delattr(one, name)
    else:  # an object has the attribute once it is created
        make = owner.__init__
        def init(self, *args, **kwargs):
            make(self, *args, **kwargs)
            delattr(self, name)
        owner.__init__ = init

settings.configure(SECRET_KEY="any", INSTALLED_APPS=["hopless"], MIDDLEWARE=[])
take_away(sys.argv[1])
said, handler = [], logging.Handler()
handler.emit = lambda record: said.append(record.getMessage())
logging.getLogger("hopless").addHandler(handler)
apps.populate(settings.INSTALLED_APPS)
if hasattr(asgi, "ASGIHandler"):
    asgi.ASGIHandler = lambda: "Django's own"
    asgi.get_asgi_application = lambda: asgi.ASGIHandler()
else:
    asgi.get_asgi_application = lambda: "Django's own"

from hopless import checks, get_asgi_application, middleware
applications = [get_asgi_application(), get_asgi_application(whole=True)]
ids = [one.id for one in checks.hops()]
print(json.dumps([applications, said, ids, middleware.SecurityMiddleware is SecurityMiddleware]))
"""
# Names in Django's documentation (https://docs.djangoproject.com/en/5.2/) or in asgiref's README.
DOCUMENTED = {
    "asgiref.sync": {"ThreadSensitiveContext", "iscoroutinefunction", "sync_to_async"},
    "django.apps": {"AppConfig"},
    "django.conf": {"settings"},
    "django.contrib.messages": {"get_messages"},
    "django.core": {"asgi", "checks", "signals"},
    "django.core.asgi": {"get_asgi_application"},
    "django.core.cache": {"caches"},
    "django.core.cache.backends.base": {"BaseCache"},
    "django.core.exceptions": {"RequestAborted"},
    "django.db": {"close_old_connections", "connections", "reset_queries"},
    "django.db.backends.signals": {"connection_created"},
    "django.dispatch": {"Signal"},
    "django.http": {"Http404", "HttpRequest"},
    "django.http.response": {"HttpResponseBase"},
    "django.utils.deprecation": {"MiddlewareMixin"},
    "django.utils.module_loading": {"import_string"},
    "django.utils.translation": {"get_language_from_request"},
}


def test_installed_version_has_all_names():
    assert private.missing() == []
    assert private.usable()


@pytest.mark.parametrize("name", EVERY)
def test_missing_private_name_selects_django(name):
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", WITHOUT, name], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    applications, said, checks, is_djangos = json.loads(done.stdout)
    assert applications == ["Django's own"] * 2
    assert len(said) == 1
    assert name.partition(":")[2] in said[0]
    assert checks == ["hopless.W001"]
    assert is_djangos


@pytest.mark.parametrize("file", sorted(PACKAGE.glob("*.py")), ids=lambda file: file.name)
def test_other_imported_names_are_documented(file):
    for one in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = one.names if isinstance(one, (ast.Import, ast.ImportFrom)) else []
        if isinstance(one, ast.ImportFrom) and one.module.partition(".")[0] in ("asgiref", "django"):
            assert {name.name for name in names} <= DOCUMENTED.get(one.module, set())
        elif isinstance(one, ast.Import):
            assert not [name.name for name in names if name.name.startswith(("asgiref.", "django."))]
