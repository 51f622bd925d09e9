"""Define the settings that the three setups share.

The environment variable STACK_SETTINGS selects the settings. `original` means the settings in the published report,
with DEBUG and Django's default middleware. `today` means the settings of today's setups, without DEBUG and with the
middleware of `django-admin startproject`, which had the same seven classes in 2016.
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
STATIC_URL = "/static/"  # required with DEBUG, because the Channels worker then looks for static files first

# Django requires a database, but this project doesn't use it.
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
