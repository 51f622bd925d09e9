"""The test `fortunes` of TechEmpower's FrameworkBenchmarks (docs/endpoints.rst).

All rows, one more that is added here, sorted by message, in a page whose template escapes them.
"""

from operator import attrgetter

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from endpoints.models import Fortune

ADDED = "Additional fortune added at request time."


def fortunes(request: HttpRequest) -> HttpResponse:
    """The page."""
    return page(request, list(Fortune.objects.all()))


async def fortunes_async(request: HttpRequest) -> HttpResponse:
    """The same from a coroutine: the query in a thread, the template in the event loop."""
    return page(request, [fortune async for fortune in Fortune.objects.all()])


def page(request: HttpRequest, found: list[Fortune]) -> HttpResponse:
    """The page of these fortunes and the added one."""
    found.append(Fortune(id=0, message=ADDED))
    found.sort(key=attrgetter("message"))
    return render(request, "endpoints/fortunes.html", {"fortunes": found})
