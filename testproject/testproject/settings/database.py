"""Read the settings of the project's database from the environment. docs/endpoints.rst explains the variables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

ASYNC_ENGINE = "django_async_backend.db.backends.postgresql"  # The synchronous part is Django's backend.
POOL = 16  # Connections per process. Six processes need fewer than 100, PostgreSQL's default limit.


def databases(environ: Mapping[str, str], directory: Path) -> dict[str, dict[str, Any]]:
    """Return the setting DATABASES for `DATABASE_URL`. The default is SQLite's `db.sqlite3` in the directory.

    Raises:
        ImproperlyConfigured: If an environment variable has an invalid value.
    """
    url = environ.get("DATABASE_URL") or "sqlite:///db.sqlite3"
    keep = environ.get("CONN_MAX_AGE") or None
    if keep is not None and not (keep.isdecimal() or keep == "none"):
        raise ImproperlyConfigured(f"CONN_MAX_AGE must be whole seconds or 'none', not {keep!r}")
    if url.startswith("sqlite:///"):
        if environ.get("ASYNC_BACKEND"):
            raise ImproperlyConfigured("ASYNC_BACKEND needs PostgreSQL. Set DATABASE_URL")
        database = sqlite(directory / url.removeprefix("sqlite:///"))
    elif url.startswith(("postgresql://", "postgres://")):
        database = postgresql(url)
        if environ.get("ASYNC_BACKEND"):
            database["ENGINE"] = ASYNC_ENGINE
        if keep is None:
            database["OPTIONS"]["pool"] = {"min_size": 1, "max_size": POOL}
    else:
        scheme = url.partition("://")[0]
        raise ImproperlyConfigured(f"DATABASE_URL must start with sqlite:///FILE or postgresql://, not with {scheme!r}")
    return {"default": {**database, "CONN_MAX_AGE": None if keep == "none" else int(keep or 0)}}


def sqlite(file: Path) -> dict[str, Any]:
    """Return the settings that SQLite recommends for several processes. `prepare` sets the journal mode to WAL."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": file,
        "OPTIONS": {
            "timeout": 20,  # Seconds to wait for another writer, before the error "database is locked".
            # In other modes, a transaction that starts with a read can't wait for another writer.
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA synchronous=NORMAL",  # safe with WAL: a power cut loses at most the last writes
        },
    }


def postgresql(url: str) -> dict[str, Any]:
    """Return the settings for psycopg 3. libpq parses the URL, so the URL can contain all of libpq's options."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        options = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise ImproperlyConfigured(f"DATABASE_URL: {str(error).strip()}") from None
    name = options.pop("dbname", None)
    if not name:
        raise ImproperlyConfigured("DATABASE_URL: the name of the database is missing. Use postgresql://HOST/NAME")
    return {"ENGINE": "django.db.backends.postgresql", "NAME": name, "OPTIONS": options}
