"""What the three setups have in common: the settings of 2016, or those that today's sample project has.

STACK_SETTINGS says which. `original` is what was published with the report: DEBUG on, and the middleware that Django
has where a project names none. `today` is what the setups of today's stack have: DEBUG off, the middleware of
`django-admin startproject`, which had the same seven then.
"""

import os

STACK_SETTINGS = os.environ.get("STACK_SETTINGS") or "original"

DEBUG = STACK_SETTINGS == "original"
SECRET_KEY = "only-for-benchmarks-it-guards-nothing"
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
]

if STACK_SETTINGS == "today":
    INSTALLED_APPS += ["django.contrib.messages"]
    MIDDLEWARE = [
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ]

ROOT_URLCONF = "site2016.urls"
STATIC_URL = "/static/"  # with DEBUG on, the worker of Channels looks there first

# Named because Django wants one; nothing here asks it anything.
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
