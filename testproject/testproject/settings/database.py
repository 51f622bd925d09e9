"""Which database the project has, from the environment. docs/endpoints.rst says why so."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

POOL = 16  # connections of a process: with six processes still below the 100 that PostgreSQL allows by default


def databases(environ: Mapping[str, str], directory: Path) -> dict[str, dict[str, Any]]:
    """The setting DATABASES: that of `DATABASE_URL`, or SQLite's `db.sqlite3` in the directory.

    Raises ImproperlyConfigured where the environment makes no sense.
    """
    url = environ.get("DATABASE_URL") or "sqlite:///db.sqlite3"
    keep = environ.get("CONN_MAX_AGE") or None
    if keep is not None and not (keep.isdecimal() or keep == "none"):
        raise ImproperlyConfigured(f"CONN_MAX_AGE is {keep!r}; whole seconds, or none, are needed")
    if url.startswith("sqlite:///"):
        database = sqlite(directory / url.removeprefix("sqlite:///"))
    elif url.startswith(("postgresql://", "postgres://")):
        database = postgresql(url)
        if keep is None:
            database["OPTIONS"]["pool"] = {"min_size": 1, "max_size": POOL}
    else:
        scheme = url.partition("://")[0]
        raise ImproperlyConfigured(f"DATABASE_URL begins with {scheme!r}; sqlite:///FILE and postgresql:// are allowed")
    return {"default": {**database, "CONN_MAX_AGE": None if keep == "none" else int(keep or 0)}}


def sqlite(file: Path) -> dict[str, Any]:
    """SQLite as its documentation tunes it for several processes: `prepare` has set its journal to WAL."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": file,
        "OPTIONS": {
            "timeout": 20,  # seconds to wait for another writer, before "database is locked"
            "transaction_mode": "IMMEDIATE",  # a transaction that reads first could not wait for another writer
            "init_command": "PRAGMA synchronous=NORMAL",  # safe with WAL: a power cut loses at most the last writes
        },
    }


def postgresql(url: str) -> dict[str, Any]:
    """PostgreSQL by psycopg 3. libpq itself reads the URL, so all that it knows may stand there."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        options = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise ImproperlyConfigured(f"DATABASE_URL: {str(error).strip()}") from None
    name = options.pop("dbname", None)
    if not name:
        raise ImproperlyConfigured("DATABASE_URL: the name of the database is missing: postgresql://HOST/NAME")
    return {"ENGINE": "django.db.backends.postgresql", "NAME": name, "OPTIONS": options}
