"""Run the scenario of neighbours.py with an ASGI application and a package, and print the recordings as JSON.

``neighbours.py`` starts ``neighbours_scenario.py stock|hopless DATABASE`` in an environment with the package. The
variable HOPLESS_CASE is the name of the case. The program calls the application directly, without a server.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from neighbours_app.current import CASE, RECORDS, record  # noqa: E402

USERS = 20
SEQUENTIAL_ROUNDS = 2
RELEASE_DELAY_S = 0.02  # how long the view continues after its client has disconnected


def settings(case: Any, database: str) -> dict[str, Any]:
    of_django = ("sessions.middleware.SessionMiddleware", "auth.middleware.AuthenticationMiddleware",
                 "messages.middleware.MessageMiddleware")  # fmt: skip
    return {
        "SECRET_KEY": "for tests",
        "ALLOWED_HOSTS": ["testserver"],
        "ROOT_URLCONF": "neighbours_app.urls",
        "USE_TZ": True,
        "LOGGING_CONFIG": None,
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        "DATABASES": {"default": _database(case, database)},
        "INSTALLED_APPS": [
            *(f"django.contrib.{app}" for app in ("auth", "contenttypes", "sessions", "messages")),
            *("neighbours_app", *case.apps),
        ],
        "MIDDLEWARE": [
            "neighbours_app.middleware.FirstLook",
            "django.middleware.security.SecurityMiddleware",
            *(f"django.contrib.{path}" for path in of_django),
            *case.middleware,
        ],
        **case.settings,
    }


def _database(case: Any, database: str) -> dict[str, Any]:
    if case.postgresql:
        return {"ENGINE": case.engine, "NAME": "postgres", "USER": "postgres", "HOST": database,
                "CONN_MAX_AGE": case.conn_max_age}  # fmt: skip
    options = {"timeout": 30, "transaction_mode": "IMMEDIATE", "init_command": "PRAGMA synchronous=OFF"}
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{database}.sqlite3", "CONN_MAX_AGE": case.conn_max_age,
            "OPTIONS": options}  # fmt: skip


def sign_in() -> list[tuple[str, str]]:
    """Create users with sessions. Return pairs of a user name and a session cookie. The first pair is anonymous."""
    from django.contrib.auth.models import User
    from django.test import Client

    found = [("", "")]
    for number in range(USERS):
        user = User.objects.create(username=f"u{number}")
        client = Client()
        client.force_login(user)
        found.append((user.username, client.cookies["sessionid"].value))
    return found


class Client:
    """A client that sends requests to an ASGI application as signed-in or anonymous users."""

    def __init__(self, application: Any, users: list[tuple[str, str]]) -> None:
        self._application = application
        self._users = users
        self._number = 0

    async def ask(self, view: str, user: int, disconnect: bool = False) -> None:
        """Send a request, and record its status.

        Args:
            view: The name of a view.
            user: The index of a user. 0 is anonymous.
            disconnect: Whether the client disconnects when the view has started.
        """
        from neighbours_app.urls import expect

        self._number += 1
        number = f"r{self._number}"
        name, session = self._users[user]
        started, released = expect(number)
        asked, status = False, None

        async def receive() -> dict[str, Any]:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": b""}
            if not disconnect:
                await asyncio.sleep(3600)
            while not started.is_set():  # noqa: ASYNC110 -- another thread can set the event
                await asyncio.sleep(0.001)
            asyncio.get_running_loop().call_later(RELEASE_DELAY_S, released.set)
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)

        try:
            await self._application(self._scope(view, f"who={name}&id={number}", session), receive, send)
        except Exception as error:
            status = repr(error)
        record("answer", number, [view, name, "disconnected" if disconnect else status])

    def _scope(self, view: str, query: str, session: str) -> dict[str, Any]:
        headers = [(b"host", b"testserver"), *([(b"cookie", f"sessionid={session}".encode())] if session else [])]
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "method": "GET",
            "path": f"/{view}/",
            "raw_path": f"/{view}/".encode(),
            "query_string": query.encode(),
            "headers": headers,
            "client": ("127.0.0.1", 50000),
            "server": ("testserver", 80),
        }


async def scenario(client: Client, shared_task: bool) -> None:
    """Send requests one by one, from many users at the same time, and from clients that disconnect.

    Args:
        client: The client of the application.
        shared_task: Whether the same task serves all requests that are sent one by one.
    """

    async def ask(*args: Any, **kwargs: Any) -> None:
        asking = client.ask(*args, **kwargs)
        await (asking if shared_task else asyncio.create_task(asking))

    answered = ("works", "aworks", "fails", "afails", "fails_unmarked", "afails_unmarked")
    hanging = ("hangs", "ahangs")
    for user in range(SEQUENTIAL_ROUNDS * 2):
        for view in answered:
            await ask(view, (0, 1, 2, 0)[user])
    for shift in range(len(answered)):
        views = [answered[(shift + user) % len(answered)] for user in range(USERS + 1)]
        await asyncio.gather(*(client.ask(view, user) for user, view in enumerate(views)))
    for view in hanging:
        for user in (1, 0, 2):
            await ask(view, user, disconnect=True)
            for after in answered:
                await ask(after, 0)
    for shift in range(2):
        await asyncio.gather(
            *(client.ask(hanging[(shift + user) % 2], user, disconnect=True) for user in range(USERS + 1)),
            *(client.ask(view, user) for user, view in enumerate(answered)),
        )
        await asyncio.gather(*(client.ask(answered[user % len(answered)], 0) for user in range(USERS)))


def main() -> None:
    way, database = sys.argv[1:]
    CASE.start()
    import django
    from django.conf import settings as django_settings
    from django.core.management import call_command
    from django.db import connection

    django_settings.configure(**settings(CASE, database))
    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)
    users = sign_in()
    if CASE.postgresql:
        with connection.cursor() as cursor:
            for user, _ in users[1:]:
                cursor.execute(CASE.postgresql.format(user=user))
    connection.close()
    CASE.ready()
    if way == "hopless":
        from hopless import get_asgi_application
    else:
        from django.core.asgi import get_asgi_application
    RECORDS.clear()
    # Django 6 doesn't reset context variables in the server's task, so a request sees the previous request's language.
    shared_task = django.VERSION < (6,)
    asyncio.run(scenario(Client(CASE.wrap(get_asgi_application()), users), shared_task))
    gc.collect()  # ends spans that agents leave open if a request is cancelled
    print(json.dumps({"requests": RECORDS, "found": CASE.found()}, default=str))


if __name__ == "__main__":
    main()
