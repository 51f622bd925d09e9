"""Print a line of JSON about a Django project. The project's Python runs this script in the project's directory.

Arguments:

- ``interface=module:name``: an entry point to import.
- ``works=check``: also check the URLs and run ``manage.py check``.
- ``works=answer``: also request a page.
- ``page=/shop/`` and ``host=example.org``: that page.

The script exits with the reason if one of these fails. The JSON object has ``django`` and ``python`` (versions),
``debug``, ``wsgi`` and ``asgi`` (from the settings, as ``module:name`` or null) and ``middleware`` (the number). The
script imports nothing from this package, because the package isn't installed in the project's environment.
"""

import importlib
import json
import platform
import sys


def main(arguments: "list[str]") -> None:
    import django
    from django.conf import settings

    django.setup()
    given = dict(text.split("=", 1) for text in arguments)
    works, page, host = given.pop("works", ""), given.pop("page", "/"), given.pop("host", "127.0.0.1")
    for entry_point in given.values():
        module, _, name = entry_point.partition(":")
        getattr(importlib.import_module(module), name or "application")
    if works:
        _check()
    if works == "answer":
        _answer(page, host)
    print(
        "of the project: "
        + json.dumps(
            {
                "python": platform.python_version(),
                "django": django.get_version(),
                "debug": bool(settings.DEBUG),
                "wsgi": _entry_point(getattr(settings, "WSGI_APPLICATION", None)),
                "asgi": _entry_point(getattr(settings, "ASGI_APPLICATION", None)),
                "middleware": len(settings.MIDDLEWARE),
            }
        )
    )


def _check() -> None:
    from django.core import checks
    from django.urls import get_resolver

    get_resolver().url_patterns  # noqa: B018 - imports the URLs
    for found in checks.run_checks():
        if found.is_serious() and not found.is_silenced():
            sys.exit(f"manage.py check: {found.msg} ({found.id})".replace("\n", " "))


def _answer(page: str, host: str) -> None:
    from django.test import Client

    status = Client(SERVER_NAME=host).get(page).status_code
    if status >= 500:
        sys.exit(f"it answers GET {page} with {status}")


def _entry_point(dotted: "str | None") -> "str | None":
    """Convert the settings' ``mysite.wsgi.application`` to ``mysite.wsgi:application``."""
    return ":".join(dotted.rsplit(".", 1)) if dotted else None


if __name__ == "__main__":
    main(sys.argv[1:])
