"""Run by the Python of a Django project, in its directory: says as JSON what the harness must know of it.

Takes the entry points to try, as ``interface=module:name``. Prints a line with an object: ``django`` and ``python``
(versions), ``debug``, ``wsgi`` and ``asgi`` (those of the settings, as ``module:name``, or null), ``middleware`` (how
many). Ends with the exception's traceback where the project cannot be loaded. Nothing of this package is imported: it
is not installed there.
"""

import importlib
import json
import platform
import sys


def main(entry_points: "list[str]") -> None:
    """Loads the project and the entry points, and prints what was found."""
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
