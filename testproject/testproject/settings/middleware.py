"""Which middleware a setup has: that of most projects, or, for the study `sync-or-async`, a number that do nothing."""

import re
from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

# Those of `django-admin startproject`.
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
    """The setting MIDDLEWARE, from `MIDDLEWARES`.

    `7-sync` is seven that do nothing and are sync, instead of the usual ones; `usual+1-sync` is one of them after the
    usual ones; `usual-sync` is the usual ones, each as a synchronous one; without the variable it is the
    usual ones. Raises ImproperlyConfigured for anything else.
    """
    wanted = environ.get("MIDDLEWARES", "")
    if not wanted:
        return USUAL
    match = WANTED.fullmatch(wanted)
    if match is None:
        raise ImproperlyConfigured(f"MIDDLEWARES is {wanted!r}; such as 0-sync, 7-async or usual+1-sync is allowed")
    if match["sync"]:
        return [f"endpoints.synchronous.{path.rpartition('.')[2]}" for path in USUAL]
    nothing = [f"endpoints.nothing.{match['kind']}_nothing"] * int(match["count"])
    return [*USUAL, *nothing] if match["usual"] else nothing
