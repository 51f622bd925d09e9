"""Serve endpoints of the sample project with django-bolt, in handlers like the examples in its documentation.

The handlers use the project's models, but not Django's middleware, URLconf, sessions or templates.
"""

from django_bolt import BoltAPI
from django_bolt.responses import HTML
from endpoints.models import World
from endpoints.worlds import some_number

api = BoltAPI(trailing_slash="keep", compression=False, enable_logging=False)


@api.get("/")
def ok() -> HTML:
    """Return `OK`."""
    return HTML("OK")


@api.get("/async/")
async def ok_async() -> HTML:
    """Return `OK` from a coroutine."""
    return HTML("OK")


@api.get("/healthz")
def healthz() -> HTML:
    """Answer as soon as requests can reach a handler."""
    return HTML("OK")


@api.get("/db")
def db() -> dict[str, int]:
    """Return a random row. django-bolt checks the answer against the return type."""
    return World.objects.get(id=some_number()).as_dict()


@api.get("/async/db")
async def db_async() -> dict[str, int]:
    """Return a random row from a coroutine."""
    return (await World.objects.aget(id=some_number())).as_dict()
