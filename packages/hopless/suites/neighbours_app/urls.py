"""Define the views. Each view has a synchronous and an asynchronous version."""

import asyncio
import threading
import time

from asgiref.sync import sync_to_async
from django.http import HttpResponse
from django.urls import path

from neighbours_app.current import CASE, record
from neighbours_app.models import Note

started = {}  # Events that requests set when their views have started, by request id.
released = {}  # Events for which the views wait, by request id.


def _mark(request):
    record("in the view", request.GET["id"], CASE.see())
    CASE.mark(request, request.user)
    Note.objects.create(text=request.GET["id"])
    record("after a change", request.GET["id"], CASE.see())


def works(request):
    _mark(request)
    time.sleep(0.005)
    record("after a pause", request.GET["id"], CASE.see())
    return HttpResponse("works")


async def aworks(request):
    await sync_to_async(_mark)(request)
    await asyncio.sleep(0.005)
    record("after a pause", request.GET["id"], await sync_to_async(CASE.see)())
    return HttpResponse("works")


def fails(request):
    _mark(request)
    raise ValueError(request.GET["id"])


async def afails(request):
    await sync_to_async(_mark)(request)
    raise ValueError(request.GET["id"])


def fails_unmarked(request):
    """Raise an error without marking the request with a user or a tag."""
    raise LookupError(request.GET["id"])


async def afails_unmarked(request):
    raise LookupError(request.GET["id"])


def hangs(request):
    _mark(request)
    started[request.GET["id"]].set()
    released[request.GET["id"]].wait(10)
    return HttpResponse("hung")


async def ahangs(request):
    await sync_to_async(_mark)(request)
    started[request.GET["id"]].set()
    await asyncio.sleep(10)
    return HttpResponse("hung")


VIEWS = (works, aworks, fails, afails, fails_unmarked, afails_unmarked, hangs, ahangs)
urlpatterns = [path(f"{view.__name__}/", view) for view in VIEWS]


def expect(number):
    """Create and return the events of a request."""
    started[number] = threading.Event()
    released[number] = threading.Event()
    return started[number], released[number]
