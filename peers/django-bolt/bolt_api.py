"""What django-bolt answers: endpoints of the sample project from its models, in handlers as its pages have them.

No middleware of Django's, URLconf, session or template is on the way.
"""

from django_bolt import BoltAPI
from django_bolt.responses import HTML
from endpoints.models import World
from endpoints.worlds import some_number

api = BoltAPI(trailing_slash="keep", compression=False, enable_logging=False)


@api.get("/")
def ok() -> HTML:
    """`OK`."""
    return HTML("OK")


@api.get("/async/")
async def ok_async() -> HTML:
    """The same from a coroutine."""
    return HTML("OK")


@api.get("/healthz")
def healthz() -> HTML:
    """Answers once a handler can be reached."""
    return HTML("OK")


@api.get("/db")
def db() -> dict[str, int]:
    """A row at random; django-bolt checks the answer against the type."""
    return World.objects.get(id=some_number()).as_dict()


@api.get("/async/db")
async def db_async() -> dict[str, int]:
    """The same from a coroutine."""
    return (await World.objects.aget(id=some_number())).as_dict()
