"""Choose the middleware of a setup: Django's usual middleware or, for the study `sync-or-async`, empty middleware."""

import re
from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

# The middleware of `django-admin startproject`.
USUAL = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

WANTED = re.compile(r"(?P<usual>usual\+)?(?P<count>[0-9]{1,2})-(?P<kind>sync|async)|(?P<sync>usual-sync)")


def middleware(environ: Mapping[str, str]) -> list[str]:
    """Return the setting MIDDLEWARE for `MIDDLEWARES`.

    * `7-sync`: seven synchronous middlewares that do nothing, instead of the usual middleware.
    * `usual+1-sync`: the usual middleware, then one synchronous middleware that does nothing.
    * `usual-sync`: the usual middleware, all of it synchronous.
    * no value: the usual middleware.

    Raises:
        ImproperlyConfigured: If the variable has another value.
    """
    wanted = environ.get("MIDDLEWARES", "")
    if not wanted:
        return USUAL
    match = WANTED.fullmatch(wanted)
    if match is None:
        raise ImproperlyConfigured(f"MIDDLEWARES must be a value such as 0-sync or usual+1-sync, not {wanted!r}")
    if match["sync"]:
        return [f"endpoints.synchronous.{path.rpartition('.')[2]}" for path in USUAL]
    nothing = [f"endpoints.nothing.{match['kind']}_nothing"] * int(match["count"])
    return [*USUAL, *nothing] if match["usual"] else nothing
