"""Run by the Python of a Django project, in its directory: prints a line of JSON about it.

Arguments are the entry points to try, as ``interface=module:name``. The object has ``django`` and ``python``
(versions), ``debug``, ``wsgi`` and ``asgi`` (of the settings, as ``module:name`` or null) and ``middleware`` (the
number). Imports nothing of this package, which is not installed there.
"""

import importlib
import json
import platform
import sys


def main(entry_points: "list[str]") -> None:
    import django
    from django.conf import settings

    django.setup()
    for text in entry_points:
        module, _, name = text.partition("=")[2].partition(":")
        getattr(importlib.import_module(module), name or "application")
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


def _entry_point(dotted: "str | None") -> "str | None":
    """``mysite.wsgi:application`` from the settings' ``mysite.wsgi.application``."""
    return ":".join(dotted.rsplit(".", 1)) if dotted else None


if __name__ == "__main__":
    main(sys.argv[1:])
