"""Settings with the seven middleware of ``startproject`` and an SQLite database."""

import os
import tempfile
from pathlib import Path

BASE = Path(os.environ.get("HOPLESS_TESTS") or tempfile.mkdtemp(prefix="hopless-tests-"))  # servers share it
SECRET_KEY = "for tests"
ALLOWED_HOSTS = ["testserver", "127.0.0.1"]
ROOT_URLCONF = "tests.project.urls"
USE_TZ = True
SITE_ID = 1
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.sites",
    "django.contrib.flatpages",
    "django.contrib.redirects",
    "hopless",
]
SEVEN = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
MIDDLEWARE = SEVEN
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": BASE / "db.sqlite3", "CONN_MAX_AGE": 600}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
LOGGING_CONFIG = None
LANGUAGES = [("en", "English"), ("de", "German")]
