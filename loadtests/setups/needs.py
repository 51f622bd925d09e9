"""Find the software that setups need in addition to Django, and describe how to install it.

The names of the software are the words of `needs=` in supervisor/conf.d.
"""

from __future__ import annotations

import glob
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import PathFinder
from pathlib import Path

from loadtests.files import ROOT
from loadtests.setups import environment, other_stacks, redis

# Folders of servers that are often not in a user's PATH. supervisor/nginx.sh also searches them.
SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def command(name: str) -> Callable[[Path], bool]:
    """Return a check for a command next to Python. A command in another folder would run with another Python."""
    return lambda bin: shutil.which(name, path=str(bin)) is not None


def module(name: str) -> Callable[[Path], bool]:
    """Return a check for a module. The check doesn't import the module."""

    def found(bin: Path) -> bool:
        if bin == Path(sys.executable).parent:
            return _found_here(name)
        ask = f"import sys, importlib.util; sys.exit(importlib.util.find_spec({name!r}) is None)"
        return subprocess.run([bin / "python", "-c", ask], capture_output=True, check=False).returncode == 0

    return found


def _found_here(name: str) -> bool:
    """Return whether this Python finds the module. The search may import the parent packages of the module."""
    try:
        return (importlib.util.find_spec if "." in name else PathFinder.find_spec)(name) is not None
    except ModuleNotFoundError:
        return False


def system(name: str) -> Callable[[Path], bool]:
    """Return a check for a program that is installed on the machine."""
    return lambda bin: (
        shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *SYSTEM])) is not None
    )


def peer(name: str, package: str) -> Callable[[Path], bool]:
    """Return a check for Node and for a package of a peer in peers/."""
    package_json = f"peers/{name}/node_modules/{package}/package.json"
    return lambda bin: (ROOT / package_json).is_file() and environment.node() is not None


def rails(bin: Path) -> bool:
    """Return whether Debian's packages of Action Cable and Puma are installed."""
    found = glob.glob("/usr/share/rubygems-integration/*/specifications/actioncable-*.gemspec")
    return bool(found) and system("puma")(bin)


def apache(bin: Path) -> bool:
    """Return whether Apache and mod_wsgi are installed.

    mod_wsgi may be installed without Apache, because compiling it needs only the headers of Apache.
    """
    return command("mod_wsgi-express")(bin) and any(system(name)(bin) for name in ("apache2", "httpd"))


def redis_somewhere(bin: Path) -> bool:
    """Return whether REDIS_URL is set, or there is a server that supervisor/redis.sh can start."""
    return "REDIS_URL" in os.environ or redis.executable() is not None


def postgresql_somewhere(bin: Path) -> bool:
    """Return whether DATABASE_URL names a PostgreSQL, or there is a server that supervisor/postgresql.sh can start."""
    named = os.environ.get("DATABASE_URL", "").startswith(("postgresql://", "postgres://"))
    return named or system("initdb")(bin) or bool(glob.glob("/usr/lib/postgresql/*/bin/initdb"))


def pgbouncer_in_between(bin: Path) -> bool:
    """Return whether supervisor/pgbouncer.sh can start PgBouncer in front of the service postgresql."""
    return "DATABASE_URL" not in os.environ and system("pgbouncer")(bin)


NEWER_PYTHON = "it needs Python 3.12 or newer: --variant python=3.13"
# The Python packages are in requirements.txt, except mod_wsgi, which is compiled against the machine's Apache.
NEEDS: Mapping[str, tuple[Callable[[Path], bool], str]] = {
    "gunicorn": (command("gunicorn"), "pip install gunicorn"),
    "gunicorn-h1c": (module("gunicorn_h1c"), "pip install gunicorn_h1c==0.6.10, which needs a C compiler"),
    "gevent": (module("gevent"), "pip install gevent"),
    "packaging": (module("packaging"), "pip install packaging"),
    "uvicorn": (command("uvicorn"), "pip install uvicorn"),
    "uvicorn-worker": (module("uvicorn_worker"), "pip install uvicorn-worker"),
    "uvloop": (module("uvloop"), "pip install uvloop"),
    "httptools": (module("httptools"), "pip install httptools"),
    "daphne": (command("daphne"), "pip install daphne"),
    "hypercorn": (command("hypercorn"), "pip install hypercorn"),
    "granian": (command("granian"), "pip install granian"),
    "caddysnake": (command("caddysnake"), f"pip install caddysnake; {NEWER_PYTHON}"),
    "django-bolt": (module("django_bolt"), f"pip install django-bolt; {NEWER_PYTHON}"),
    "uwsgi": (command("uwsgi"), "pip install pyuwsgi"),
    "waitress": (command("waitress-serve"), "pip install waitress"),
    "mod_wsgi": (apache, "apt-get install apache2-bin apache2-dev, then pip install mod_wsgi"),
    "channels": (module("channels"), "pip install channels"),
    "websockets": (module("websockets"), "pip install websockets"),
    "wsproto": (module("wsproto"), "pip install wsproto"),
    "python-socketio": (module("socketio"), "pip install python-socketio"),
    "node-ws": (peer("ws", "ws"), "make peers, in a clone"),
    "node-socketio": (peer("socketio", "socket.io"), "make peers, in a clone"),
    "action-cable": (
        rails,
        "apt-get install --no-install-recommends ruby-actioncable ruby-railties puma ruby-redis (Debian)",
    ),
    "hopless": (
        module("hopless"),
        "it needs Python 3.10, Django 5.2 and asgiref 3.13 (3.12.1 on Python 3.10) or newer, and for the sample "
        "project `make setup`",
    ),
    "openssl": (system("openssl"), "apt-get install openssl"),
    "nginx": (system("nginx"), "apt-get install nginx"),
    "stack-2016": (other_stacks.is_installed("2016"), other_stacks.STACKS["2016"]),
    "google-cloud-datastore": (module("google.cloud.datastore"), "pip install google-cloud-datastore"),
    "postgresql": (postgresql_somewhere, "apt-get install postgresql, or set DATABASE_URL"),
    "pgbouncer": (pgbouncer_in_between, "apt-get install pgbouncer, and leave out DATABASE_URL"),
    "redis": (redis_somewhere, "apt-get install redis-server, or set REDIS_URL"),
}

# The packages whose names differ from the keys in NEEDS. PACKAGES contains the key in NEEDS for each package that only
# some setups use.
OTHER_NAMES = {"uwsgi": "pyuwsgi"}
PACKAGES = {OTHER_NAMES.get(name, name).replace("_", "-"): name for name in NEEDS if name != "hopless"}


def missing_needs(needs: Iterable[str], bin: Path | None = None) -> list[str]:
    """Return the names of the software in ``needs`` that this machine lacks.

    Args:
        needs: The names of the software that a setup needs.
        bin: The directory of the servers' Python and commands. The default is the sample project's directory.
    """
    return [name for name in needs if not NEEDS[name][0](bin or environment.bin())]


def missing(needs: Iterable[str], bin: Path | None = None) -> str | None:
    """Return one line with the missing software and how to install it, or None if all software is installed."""
    return "; ".join(f"{name} is not installed: {NEEDS[name][1]}" for name in missing_needs(needs, bin)) or None
