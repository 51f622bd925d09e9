"""Define the cases of neighbours.py that store state for a request, a thread or a database connection.

The state of a case is recorded at the start of each request and in the view.
"""

from __future__ import annotations

from typing import Any

PSYCOPG = "psycopg[binary]==3.3.9"


class Case:
    """A package, or a pattern in projects, that is tested in combination with hopless.

    Attributes:
        requires: The packages to install.
        apps, middleware, settings: Additions to the settings. The middleware follows Django's middleware.
        engine, conn_max_age: The database engine for PostgreSQL, and the value of CONN_MAX_AGE.
        records_history: Whether the model records its history.
        postgresql: The SQL that prepares PostgreSQL for a user, or None to use SQLite.
    """

    requires: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    middleware: tuple[str, ...] = ()
    settings: dict[str, Any] = {}  # noqa: RUF012
    engine = "django.db.backends.postgresql"
    conn_max_age = 600
    records_history = False
    postgresql: str | None = None

    def start(self) -> None:
        """Start the agent before Django is imported."""

    def ready(self) -> None:
        """Prepare the package after ``django.setup()``."""

    def wrap(self, application: Any) -> Any:
        """Return the ASGI application, wrapped in the agent's ASGI middleware if it has one."""
        return application

    def mark(self, request: Any, user: Any) -> None:
        """Pass the user and the id of a request to the agent."""

    def see(self) -> Any:
        """Return the state that is visible at the moment."""

    def found(self) -> list[Any]:
        """Return the recordings of the agent, or the rows that the package wrote."""
        return []


def _name(user: Any) -> str | None:
    return None if user is None else str(user)


class Crum(Case):
    requires = ("django-crum==0.7.9",)
    middleware = ("crum.CurrentRequestUserMiddleware",)

    def see(self) -> Any:
        import crum

        request = crum.get_current_request()
        return [_name(crum.get_current_user()), request and request.GET["id"]]


class CurrentUser(Case):
    requires = ("django-currentuser==0.6.1",)
    middleware = ("django_currentuser.middleware.ThreadLocalUserMiddleware",)

    def see(self) -> Any:
        from django_currentuser.middleware import get_current_user

        return _name(get_current_user())


class SimpleHistory(Case):
    requires = ("django-simple-history==3.13.0",)
    apps = ("simple_history",)
    middleware = ("simple_history.middleware.HistoryRequestMiddleware",)
    records_history = True

    def see(self) -> Any:
        from simple_history.models import HistoricalRecords

        request = getattr(HistoricalRecords.context, "request", None)
        return request and request.GET["id"]

    def found(self) -> list[Any]:
        from neighbours_app.models import Note

        return [[row.text, _name(row.history_user)] for row in Note.history.select_related("history_user")]


class AuditLog(Case):
    requires = ("django-auditlog==3.4.1",)
    apps = ("auditlog",)
    middleware = ("auditlog.middleware.AuditlogMiddleware",)

    def found(self) -> list[Any]:
        from auditlog.models import LogEntry

        entries = LogEntry.objects.select_related("actor")
        return [[entry.changes["text"][1], _name(entry.actor), entry.remote_addr] for entry in entries]


class Language(Case):
    middleware = ("neighbours_app.middleware.ActivateLanguage",)

    def see(self) -> Any:
        from django.utils import timezone, translation

        return [translation.get_language(), timezone.get_current_timezone_name()]


class UserInThread(Case):
    middleware = ("neighbours_app.middleware.UserInThread",)

    def see(self) -> Any:
        from neighbours_app.middleware import local

        return getattr(local, "user", None)


class UserAroundView(UserInThread):
    middleware = ("neighbours_app.middleware.UserAroundView",)


class Role(Case):
    requires = (PSYCOPG,)
    middleware = ("neighbours_app.middleware.SetRole",)
    postgresql = "CREATE ROLE role_{user} SUPERUSER;"

    def see(self) -> Any:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user")
            return cursor.fetchone()[0]


class Tenants(Case):
    requires = (PSYCOPG, "django-tenants==4.0.1")
    middleware = ("neighbours_app.middleware.SetTenant",)
    engine = "django_tenants.postgresql_backend"
    postgresql = "CREATE SCHEMA schema_{user};"

    def see(self) -> Any:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("SELECT current_schema()")
            return [connection.schema_name, cursor.fetchone()[0]]


CASES = {
    "django-crum": Crum(),
    "django-currentuser": CurrentUser(),
    "django-simple-history": SimpleHistory(),
    "django-auditlog": AuditLog(),
    "language": Language(),
    "thread-local": UserInThread(),
    "thread-local-finally": UserAroundView(),
    "set-role": Role(),
    "django-tenants": Tenants(),
}
