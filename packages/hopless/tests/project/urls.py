"""Define synchronous views below / and asynchronous views below /async/."""

import asyncio
import threading
import time

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.middleware.csrf import get_token
from django.template import engines
from django.template.response import TemplateResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

later = {}  # values that views share with the tests, also after the end of their requests
local = threading.local()
stop = threading.Event()


def ok(request):
    return HttpResponse("ok")


async def aok(request):
    return HttpResponse("ok")


def fails(request):
    raise {"denied": PermissionDenied, "suspicious": SuspiciousOperation}.get(request.GET.get("how"), ValueError)(
        "view"
    )


async def afails(request):
    fails(request)


def token(request):
    return HttpResponse(get_token(request)[:0] + "token")


async def atoken(request):
    return token(request)


@csrf_exempt
def exempt(request):
    return HttpResponse(request.POST.get("a", "nothing"))


def post(request):
    return HttpResponse(request.POST.get("a", "nothing"))


async def apost(request):
    return HttpResponse(request.POST.get("a", "nothing"))


def session(request):
    request.session["visits"] = request.session.get("visits", 0) + 1
    return HttpResponse(str(request.session["visits"]))


async def asession(request):
    await request.session.aset("visits", await request.session.aget("visits", 0) + 1)
    return HttpResponse(str(await request.session.aget("visits")))


def message(request):
    messages.info(request, "hello")
    return HttpResponse("left")


def read_messages(request):
    return HttpResponse(",".join(str(one) for one in messages.get_messages(request)))


def user(request):
    return HttpResponse(str(request.user))


async def auser(request):
    return HttpResponse(str(await request.auser()))


def users(request):
    return HttpResponse(str(User.objects.count()))


async def ausers(request):
    return HttpResponse(str(await User.objects.acount()))


def creates_and_fails(request):
    User.objects.create(username=request.GET["name"])
    raise ValueError("after it")


def template(request):
    return TemplateResponse(request, engines["django"].from_string("{{ word }}"), {"word": "rendered"})


async def atemplate(request):
    return template(request)


def stream(request):
    return StreamingHttpResponse(iter([b"one,", b"two"]))


async def astream(request):
    async def parts():
        for part in (b"one,", b"two"):
            await asyncio.sleep(0)
            yield part

    return StreamingHttpResponse(parts())


def large(request):
    return HttpResponse("x" * 100_000)


def slow(request):
    time.sleep(0.2)
    return HttpResponse("slow")


async def aslow(request):
    await asyncio.sleep(0.2)
    return HttpResponse("slow")


def in_thread(request):
    """Return the thread's identifier, and the value that an earlier request stored in the thread."""
    found = getattr(local, "left", None)
    local.left = request.GET.get("leave")
    return JsonResponse({"thread": threading.get_ident(), "left": found})


async def outlives(request):
    """Start a task that queries the database after the request has ended."""

    async def task():
        await asyncio.sleep(0.05)
        try:
            later["outlives"] = await User.objects.acount()
        except Exception as error:
            later["outlives"] = repr(error)

    later["task"] = asyncio.create_task(task())
    return HttpResponse("gone on")


async def leaves_a_job(request):
    """Start a job in the request's thread without waiting for its end."""
    later["job"] = asyncio.create_task(sync_to_async(stop.wait)())
    await asyncio.sleep(0)
    return HttpResponse("left")


async def same_thread(request):
    """Return whether two jobs of a request run in the same thread."""
    one = await sync_to_async(threading.get_ident)()
    two = await sync_to_async(threading.get_ident)()
    return HttpResponse(str(one == two))


def all_at_once(request):
    """Wait until all expected requests have started."""
    later["barrier"].wait(60)
    return HttpResponse("together")


def asks_late(request):
    """Query the database after the client has had time to disconnect."""
    later["asking"].set()
    stop.wait(10)
    User.objects.count()
    return HttpResponse("late")


async def times_out(request):
    try:
        async with asyncio.timeout(float(request.GET["after"])):
            await asyncio.sleep(60)
    except TimeoutError:
        return HttpResponse("in time")


async def streams_for_ever(request):
    """Send parts of a response until the client disconnects, and record that the generator is closed."""

    async def parts():
        try:
            while True:
                yield b"part,"
                await asyncio.sleep(0.001)
        finally:
            await asyncio.sleep(0)
            later["closed"] = True

    return StreamingHttpResponse(parts())


async def waits_for_ever(request):
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        await asyncio.sleep(0.01)  # simulates cleanup code that awaits something
        later["cancelled"] = True
        raise


both = {
    "fails": (fails, afails),
    "ok": (ok, aok),
    "post": (post, apost),
    "session": (session, asession),
    "slow": (slow, aslow),
    "stream": (stream, astream),
    "template": (template, atemplate),
    "token": (token, atoken),
    "user": (user, auser),
    "users": (users, ausers),
}
urlpatterns = [
    *(path(f"{name}/", views[0]) for name, views in both.items()),
    *(path(f"async/{name}/", views[1]) for name, views in both.items()),
    path("exempt/", exempt), path("message/", message), path("messages/", read_messages), path("large/", large),
    path("creates-and-fails/", creates_and_fails), path("in-thread/", in_thread), path("outlives/", outlives),
    path("all-at-once/", all_at_once), path("asks-late/", asks_late), path("times-out/", times_out),
    path("streams-for-ever/", streams_for_ever),
    path("leaves-a-job/", leaves_a_job), path("same-thread/", same_thread), path("waits-for-ever/", waits_for_ever),
]  # fmt: skip
