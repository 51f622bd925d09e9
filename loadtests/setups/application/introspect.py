"""Print a line of JSON about a Django project. The project's Python runs this script in the project's directory.

Arguments:
- ``manage=run``: run manage.py until it would start its command. The file may name the settings and extend
  ``sys.path``.
- ``wsgi=module:name`` and ``asgi=module:name``: an entry point to import.
- ``works=check``: also check the URLs and run ``manage.py check``.
- ``works=answer``: also request a page.
- ``page=/shop/`` and ``host=example.org``: the page to request, and the name of the host that the project sees.

If one of these steps fails, the script exits with the reason. ``main`` returns the JSON object. The script imports
nothing from this package, because the package isn't installed in the project's environment.
"""

import asyncio
import contextlib
import importlib
import importlib.util
import json
import os
import platform
import re
import runpy
import sys
import tokenize
import traceback
from typing import Any

LIFESPAN_S = 10.0
LISTENS = "0A"  # the state LISTEN in /proc/net/tcp
MODULE, CLASS = "DJANGO_SETTINGS_MODULE", "DJANGO_CONFIGURATION"


def main(arguments: "list[str]") -> "dict[str, Any]":
    """Load the project, and return its properties for the JSON object."""
    before, path = dict(os.environ), list(sys.path)
    given = dict(text.split("=", 1) for text in arguments)
    files: dict[str, str] = {}
    application: Any = None
    if given.pop("manage", ""):
        files["manage.py"] = os.path.abspath("manage.py")
        _run_manage()
        os.environ.update({name: before[name] for name in (MODULE, CLASS) if name in before})
        if MODULE not in os.environ:
            sys.exit("manage.py doesn't set a settings module. Name the module with --settings")
    # The servers also need the variables and paths that manage.py adds for itself.
    added = {name: value for name, value in os.environ.items() if name not in before}
    folders = [os.path.abspath(folder) for folder in sys.path if folder not in path]

    import django
    from django.conf import settings
    from django.core.exceptions import AppRegistryNotReady

    # Import the entry points before django.setup(), as a server does, because they may name other settings or read a
    # file of variables. wsgi.py calls django.setup(), so it comes last.
    for interface in ("asgi", "wsgi"):
        if interface in given:
            module, _, name = given[interface].partition(":")
            try:
                loaded = getattr(importlib.import_module(module), name or "application")
            except AppRegistryNotReady:
                why = "doesn't call django.setup(), so a server can't import it. Pass the entry point with"
                sys.exit(f"{module} {why} --{interface}")
            files[f"{interface}.py"] = getattr(sys.modules[module], "__file__", None) or ""
            application = application or loaded  # the ASGI application, if there is one

    if os.environ.get(CLASS):
        with contextlib.suppress(ImportError):
            importlib.import_module("configurations.importer").install()
    django.setup()
    works = given.get("works")
    if works:
        _check()
    if works == "answer":
        _answer(given.get("page", "/"), given.get("host", "127.0.0.1"))
    return {
        "python": platform.python_version(),
        "django": django.get_version(),
        "debug": bool(settings.DEBUG),
        "settings": getattr(settings, "CONFIGURATION", None) or settings.SETTINGS_MODULE,
        "wsgi": _entry_point("wsgi"),
        "asgi": _entry_point("asgi"),
        "middleware": len(settings.MIDDLEWARE),
        "ssl_redirect": bool(settings.SECURE_SSL_REDIRECT),
        "session_cookie": settings.SESSION_COOKIE_NAME if "SessionMiddleware" in str(settings.MIDDLEWARE) else "",
        "named": _named(files),
        "environment": added,
        "path": folders,
        "unapplied": _unapplied() if works == "answer" else 0,
        "ports": _ports(),
        "lifespan": _lifespan(application) if "asgi" in given else False,
    }


def _named(files: "dict[str, str]") -> "dict[str, str]":
    """Return the settings that each file names, even if the environment names other settings."""
    found = {}
    for label, path in files.items():
        # A compiled module, for example, can't be read.
        with contextlib.suppress(OSError, SyntaxError, UnicodeDecodeError), tokenize.open(path) as file:
            text = file.read()
            names = [re.search(rf"""{variable}["']\W+([\w.]+)["']""", text) for variable in (MODULE, CLASS)]
            if names[0]:
                found[label] = ".".join(name[1] for name in names if name)
    return found


class _Reached(BaseException):
    """Raised when manage.py would start its command."""


def _run_manage() -> None:
    from django.core.management import ManagementUtility

    def reached(self: Any) -> None:
        raise _Reached

    execute, ManagementUtility.execute = ManagementUtility.execute, reached
    argv, sys.argv = sys.argv, ["manage.py", "check"]
    try:
        runpy.run_path(os.path.abspath("manage.py"), run_name="__main__")
    except _Reached:
        pass
    except (Exception, SystemExit):
        if MODULE not in os.environ:
            raise
    finally:
        ManagementUtility.execute, sys.argv = execute, argv


def _check() -> None:
    from django.core import checks
    from django.urls import get_resolver

    get_resolver().url_patterns  # noqa: B018 - imports the URLs
    for found in checks.run_checks():
        if found.is_serious() and not found.is_silenced():
            sys.exit(f"manage.py check: {found.msg} ({found.id})".replace("\n", " "))


def _answer(page: str, host: str) -> None:
    from django.test import Client

    try:
        status = Client(SERVER_NAME=host, HTTP_HOST=host).get(page).status_code
    except Exception as error:
        if not _unapplied():
            raise
        why = f"{type(error).__name__}: {error}"
    else:
        if status < 500:
            return
        why = str(status)
    count = _unapplied()
    lacks = f"; {count} migrations are not applied" if count > 1 else "; 1 migration is not applied" if count else ""
    sys.exit(f"it answers GET {page} with {why}{lacks}".replace("\n", " "))


def _unapplied() -> int:
    """Return the number of migrations that aren't applied to the default database, or 0 if it isn't known."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor
    from django.db.migrations.loader import MigrationLoader

    try:
        name = connection.settings_dict["NAME"]
        if connection.vendor == "sqlite" and not connection.is_in_memory_db() and not os.path.exists(name):
            return len(MigrationLoader(None).graph.nodes)  # connecting would create the database file
        executor = MigrationExecutor(connection)
        return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except Exception:  # no database, or a custom backend
        return 0


def _ports() -> "list[int]":
    """Return the ports on which the project itself listens, except ports that the kernel has chosen."""
    sockets, found = set(), set()
    for file in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            sockets.add(os.readlink(f"/proc/self/fd/{file}"))
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError), open(f"/proc/self/net/{table}", encoding="ascii") as lines:
            for _, local, _, state, *_, inode in (line.split()[:10] for line in list(lines)[1:]):
                if state == LISTENS and f"socket:[{inode}]" in sockets:
                    found.add(int(local.rpartition(":")[2], 16))
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as limits:
        first = int(limits.read().split()[0])
    return sorted(port for port in found if port < first)


def _lifespan(application: Any) -> bool:
    """Return whether the application supports the lifespan protocol, which means that it confirms the startup."""
    sent: list[str] = []

    async def run() -> None:
        waiting = [{"type": "lifespan.shutdown"}, {"type": "lifespan.startup"}]

        async def receive() -> "dict[str, str]":
            if not waiting:
                await asyncio.sleep(LIFESPAN_S)
            return waiting.pop()

        async def send(message: "dict[str, str]") -> None:
            sent.append(message["type"])

        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": {}}
        await asyncio.wait_for(application(scope, receive, send), LIFESPAN_S)

    with contextlib.suppress(BaseException):  # most applications refuse the scope with an error
        asyncio.run(run())
    return "lifespan.startup.complete" in sent


def _entry_point(interface: str) -> "str | None":
    """Return the entry point, as ``module:name``, from the settings or from a package that the settings mention."""
    from django.conf import settings

    named = [getattr(settings, f"{name}_APPLICATION", None) or "" for name in (interface.upper(), "WSGI", "ASGI")]
    if named[0]:
        module, _, name = named[0].rpartition(".")
        return f"{module}:{name}"
    modules = [dotted.rpartition(".")[0] for dotted in named[1:]]
    for module in [*modules, os.environ.get(MODULE, ""), getattr(settings, "ROOT_URLCONF", "")]:
        package = module
        while package:
            package = package.rpartition(".")[0]
            name = f"{package}.{interface}" if package else interface
            if _exists(name):
                return f"{name}:application"
    return None


def _exists(name: str) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    # An installed package may have the same name as the project's module.
    return bool(spec and spec.origin and ("." in name or os.path.dirname(spec.origin) == os.getcwd()))


if __name__ == "__main__":
    status: Any = 0
    try:
        print("of the project: " + json.dumps(main(sys.argv[1:])))
    except SystemExit as ended:
        status = ended.code or 0
        if not isinstance(status, int):
            print(status, file=sys.stderr)
            status = 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # don't wait for the project's threads, which may never end
