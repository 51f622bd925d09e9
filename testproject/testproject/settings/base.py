"""Define the settings that all setups share. They are production settings, without options for development."""

import os
from pathlib import Path

from .database import ASYNC_ENGINE, databases
from .fetching import fetching
from .middleware import middleware
from .sessions import sessions

BASE_DIR = Path(__file__).resolve().parent.parent.parent

DEBUG = False
SECRET_KEY = os.environ.get("SECRET_KEY", "only-for-benchmarks-it-guards-nothing")
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
# Clients connect to the address on which the servers listen, so this address must be allowed.
more_hosts = (os.environ.get("BENCH_BIND"), *os.environ.get("ALLOWED_HOSTS", "").split(","))
ALLOWED_HOSTS += [host for host in more_hosts if host]

# Applications, middleware and templates are the defaults of `django-admin startproject`, because most projects run
# them. Only the admin site and static files are left out. The middleware doesn't access the database, because Django
# loads sessions, users and messages at their first use. All these defaults cost time. Under ASGI, each synchronous
# middleware costs a change of thread, as in most projects.
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "channels_relay",  # For the command runrelayworker.
    "endpoints",  # Also for the command prepare.
    "fetching",
    "questionnaire",
]

MIDDLEWARE = middleware(os.environ)

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

ROOT_URLCONF = "testproject.urls"
WSGI_APPLICATION = "testproject.wsgi.application"
ASGI_APPLICATION = "testproject.asgi.application"

DATABASES = databases(os.environ, BASE_DIR)
if DATABASES["default"]["ENGINE"] == ASYNC_ENGINE:
    INSTALLED_APPS.append("django_async_backend")

# Only the questionnaire, /session and /user load sessions.
_sessions = sessions(os.environ)
SESSION_ENGINE = _sessions.engine
SESSION_FILE_PATH = _sessions.folder
SESSION_SERVICE = _sessions.service
CACHES = _sessions.caches
QUESTIONNAIRE_STATE_BYTES = _sessions.state_bytes

# The settings of the views below /fetch.
FETCHING = fetching(os.environ)

# POST /echo accepts bodies of 4 MB. Django's default is 2.5 MB.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

TIME_ZONE = "UTC"
USE_TZ = True

# Errors go to stderr in the same way in each setup. Successful requests and 404s aren't logged, so that no setup pays
# for a log that another setup doesn't write.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": [], "level": "WARNING"},  # this replaces Django's mail to the admins
        "django.request": {"level": "ERROR"},
        "channels_relay": {"level": "INFO"},
    },
}
